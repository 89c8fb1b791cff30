import { restErrorSchema } from '../wire/rest-error.js';

/** The error body of a REST response, part 7.1; absent fields are null. */
export interface RestError {
  readonly status: number | null;
  readonly error: string | null;
  readonly message: string | null;
}

/** The parsed body of a failed request, or undefined when it is not an error body of the interface. */
export function decodeRestError(body: unknown): RestError | undefined {
  const parsed = restErrorSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { status, error, message } = parsed.data;
  if (status === undefined && error === undefined && message === undefined) return undefined;
  return { status: status ?? null, error: error ?? null, message: message ?? null };
}
