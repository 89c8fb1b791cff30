import type { ExchangeCore, Result } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import type { Quirks } from '../quirks.js';
import type { Reply } from '../router.js';

const LONGEST_MESSAGE = 300;

/** What the core answers. @throws HttpError with the status of its refusal */
export function accepted<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { kind, message } = result.rejection;
  throw new HttpError(kind === 'not-found' ? 404 : 400, message.slice(0, LONGEST_MESSAGE));
}

/** The same once it is on disk: nothing is answered with success before. @throws HttpError */
export async function settled<T>(core: Pick<ExchangeCore, 'durable'>, result: Result<T>): Promise<T> {
  const value = accepted(result);
  await core.durable();
  return value;
}

/** The answer to a DELETE that did what was asked. */
export const deletedReply = ({ deleteStatus }: Quirks): Reply =>
  deleteStatus === 204 ? { status: 204, empty: true } : { status: deleteStatus, json: {} };
