import { Secret } from '../../../core/index.js';
import { parseIsoMicros } from '../../wire/instant.js';
import { type InvalidBody, invalid, isObject, textOrNull } from '../result.js';

// These responses may contain secrets, so reasons say what is missing and never quote the payload.

/** The exchange's record of an API key. Absent or invalid times are null. */
export interface ApiKeyInfo {
  readonly keyId: string | null;
  /** The public key. */
  readonly key: string;
  readonly createdAtMicros: number | null;
  /** Null also means that it does not expire. */
  readonly expiresAtMicros: number | null;
}

/** The response of `GET /auth/api-key`, part 4.1. */
export function decodeApiKeyInfo(body: unknown): (ApiKeyInfo & { readonly ok: true }) | InvalidBody {
  if (!isObject(body)) return invalid('', 'expected an object');
  const { id, key, createdAt, expiresAt } = body;
  if (typeof key !== 'string' || key === '') return invalid('key', 'expected a text that is not empty');
  const time = (value: unknown) => (typeof value === 'string' ? (parseIsoMicros(value) ?? null) : null);
  return {
    ok: true,
    keyId: textOrNull(id),
    key,
    createdAtMicros: time(createdAt),
    expiresAtMicros: time(expiresAt),
  };
}

/** The response of `POST /auth/api-key`, part 4.1: the only one that contains the secret. */
export function decodeCreatedApiKey(
  body: unknown,
): (ApiKeyInfo & { readonly ok: true; readonly secret: Secret }) | InvalidBody {
  const info = decodeApiKeyInfo(body);
  if (!info.ok) return info;
  const secret = isObject(body) ? body['secret'] : undefined;
  if (typeof secret !== 'string' || secret === '') return invalid('secret', 'expected a text that is not empty');
  return { ...info, secret: new Secret(secret) };
}

/** A token and its expiry; null when the response has none. */
export interface Login {
  readonly token: Secret;
  readonly expiresAtMicros: number | null;
}

/** Possible names of the token field; the interface does not document the response of `POST /auth/login`. */
const TOKEN_NAMES = ['token', 'accessToken', 'access_token', 'jwt'];

/** The response of `POST /auth/login`, part 4.1: the token as a field, or as the whole body. */
export function decodeLogin(body: unknown): (Login & { readonly ok: true }) | InvalidBody {
  const fields = isObject(body) ? body : { token: body };
  const name = TOKEN_NAMES.find((known) => typeof fields[known] === 'string' && fields[known] !== '');
  if (name === undefined) return invalid('', `expected a token in one of ${TOKEN_NAMES.join(', ')}`);
  const expiresAt = fields['expiresAt'];
  return {
    ok: true,
    token: new Secret(String(fields[name])),
    expiresAtMicros: typeof expiresAt === 'string' ? (parseIsoMicros(expiresAt) ?? null) : null,
  };
}
