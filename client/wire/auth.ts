import { z } from 'zod';

/** The headers of an API-key request, part 5.1, in the case of the interface. */
export const API_KEY_HEADERS = {
  key: 'SERVICE-API-KEY',
  signature: 'SERVICE-API-SIGNATURE',
  timestamp: 'SERVICE-API-TIMESTAMP',
} as const;

/** Maximum difference between a timestamp and the server's time, seconds (part 8). */
export const TIMESTAMP_WINDOW_SECONDS = 30;

/** Body of `POST /auth/api-key`, part 4.1. */
const createApiKeyRequestSchema = z.looseObject({
  code: z.string().min(1),
  otp: z.string().nullish(),
  expiresAt: z.string().nullish(),
});
export type CreateApiKeyRequestWire = z.input<typeof createApiKeyRequestSchema>;

/** An API key record, part 2; `secret` is sent at creation only. */
export interface ApiKeyWire {
  readonly id: string;
  readonly key: string;
  readonly secret?: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** The message that a client sends right after it connected to a private stream, part 5.5. */
export const streamAuthSchema = z.looseObject({
  t: z.literal('AUTH'),
  d: z.looseObject({ apiKey: z.string().min(1), signature: z.string().min(1), timestamp: z.string().min(1) }),
});
export type StreamAuthWire = z.input<typeof streamAuthSchema>;
