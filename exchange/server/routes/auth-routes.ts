import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ApiKeyWire } from '../../../client/wire/index.js';
import type { Clock } from '../../../core/index.js';
import {
  type ApiKeyRecord,
  type Credentials,
  type ExchangeCore,
  hashPassword,
  passwordMatches,
} from '../../engine/index.js';
import { sameText, secondFactorFits, type Tokens } from '../auth/index.js';
import { HttpError } from '../errors.js';
import { isoOfMicros, parseIsoSeconds } from '../iso-time.js';
import type { Quirks } from '../quirks.js';
import type { Route, RouteRequest } from '../route.js';
import { accepted, durable, sendDeleted } from './accepted.js';
import { callerOf } from './caller.js';
import { secretText, validBody } from './validate.js';

const CODE_LIFETIME_MICROS = 600 * 1_000_000;

const loginSchema = z.looseObject({ email: z.string().min(1), password: secretText, otp: secretText.nullish() });
const createSchema = z.looseObject({
  code: secretText,
  otp: secretText.nullish(),
  expiresAt: z.string().nullish(),
});

interface AuthRoutesOptions {
  readonly core: ExchangeCore;
  readonly quirks: Quirks;
  readonly tokens: Tokens;
  readonly clock: Clock;
  /** Called when an account's key was replaced or revoked. */
  readonly onKeyChanged: (userId: string) => void;
}

/** Login and API keys, parts 4.1 and 5.4. */
export function authRoutes(options: AuthRoutesOptions): readonly Route[] {
  const { core, quirks } = options;
  // Compared with for unknown accounts, so that rejecting them takes as long as rejecting a wrong password.
  const dummyHash = hashPassword(randomUUID());
  const keyRoute = (method: Route['method'], path: string, handler: Route['handler']): Route => ({
    method,
    url: `/auth/api-key${path}`,
    access: 'jwt',
    handler,
  });
  return [
    { method: 'POST', url: '/auth/login', access: 'public', handler: (request) => login(options, dummyHash, request) },
    keyRoute('POST', '/send-code', (request) => sendCode(options, callerOf(request))),
    keyRoute('POST', '', (request) => createKey(options, request)),
    keyRoute('GET', '', (request) => {
      const { apiKey } = credentialsOf(core, callerOf(request));
      if (!apiKey) throw new HttpError(404, 'there is no active API key');
      return keyRecord(apiKey);
    }),
    keyRoute('DELETE', '', async (request, reply) => {
      const userId = callerOf(request);
      if (!credentialsOf(core, userId).apiKey) throw new HttpError(404, 'there is no active API key');
      accepted(core.setApiKey(userId, null));
      options.onKeyChanged(userId);
      await core.durable();
      return sendDeleted(reply, quirks);
    }),
  ];
}

async function login({ core, tokens }: AuthRoutesOptions, dummyHash: string, request: RouteRequest) {
  const { email, password, otp } = validBody(loginSchema, request.body);
  const userId = core.accountByEmail(email)?.userId;
  const credentials = userId === undefined ? undefined : core.credentials(userId);
  const known = passwordMatches(password, credentials?.passwordHash ?? dummyHash);
  if (!known || userId === undefined || !credentials || !secondFactorFits(credentials, otp)) {
    throw new HttpError(401, 'the email, the password or the second factor is wrong');
  }
  const { token, expiresAt } = await tokens.issue(userId);
  return { token, expiresAt: isoOfMicros(expiresAt * 1e6) };
}

/** Puts a six-digit code into the account's mailbox; it replaces an earlier one. */
async function sendCode({ core, clock }: AuthRoutesOptions, userId: string) {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await durable(core, core.setCode(userId, { code, expiresAt: clock.nowMicros() + CODE_LIFETIME_MICROS }));
  return { message: 'a confirmation code was sent by email' };
}

async function createKey({ core, clock, onKeyChanged }: AuthRoutesOptions, request: RouteRequest) {
  const userId = callerOf(request);
  const { code, otp, expiresAt } = validBody(createSchema, request.body);
  const now = clock.nowMicros();
  const expiry = expiryOf(expiresAt, now);
  const credentials = credentialsOf(core, userId);
  if (!secondFactorFits(credentials, otp)) throw new HttpError(401, 'the second factor is missing or wrong');
  if (!codeFits(credentials, code, now)) throw new HttpError(400, 'code: wrong, used or older than 10 minutes');
  if (credentials.keyBlocked) throw new HttpError(403, 'the API key of this account is permanently blocked');
  const key: ApiKeyRecord = {
    id: randomUUID(),
    key: `pk_${randomBytes(18).toString('hex')}`,
    secret: randomBytes(32).toString('base64url'),
    createdAt: now,
    expiresAt: expiry,
  };
  accepted(core.setCode(userId, null));
  accepted(core.setApiKey(userId, key));
  onKeyChanged(userId);
  await core.durable();
  return { ...keyRecord(key), secret: key.secret };
}

/** Unix micros; null means never. @throws HttpError 400 */
function expiryOf(text: string | null | undefined, now: number): number | null {
  if (text === undefined || text === null) return null;
  const seconds = parseIsoSeconds(text);
  if (seconds === undefined) throw new HttpError(400, 'expiresAt: not an ISO 8601 time');
  if (seconds * 1e6 <= now) throw new HttpError(400, 'expiresAt: must be in the future');
  return Math.round(seconds * 1e6);
}

function codeFits({ code }: Credentials, given: string, now: number): boolean {
  return code !== null && sameText(given, code.code) && now < code.expiresAt;
}

function credentialsOf(core: ExchangeCore, userId: string): Credentials {
  const credentials = core.credentials(userId);
  if (!credentials) throw new Error('an authenticated account has no credentials');
  return credentials;
}

/** The record without the secret, which only the response to its creation has. */
function keyRecord({ id, key, createdAt, expiresAt }: ApiKeyRecord): ApiKeyWire {
  return {
    id,
    key,
    createdAt: isoOfMicros(createdAt),
    expiresAt: expiresAt === null ? null : isoOfMicros(expiresAt),
  };
}
