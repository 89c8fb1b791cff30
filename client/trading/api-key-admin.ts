import type { Secret } from '../../core/index.js';
import { authorizerOf, type Credentials } from '../auth/authorizer.js';
import { type ApiKeyInfo, decodeCreatedApiKey } from '../decode/account/api-key.js';
import { SchemaError } from '../errors/index.js';
import type { ExchangeClient } from '../exchange-client.js';
import { parseJson } from '../requester.js';
import type { CreateApiKeyRequestWire } from '../wire/index.js';
import { sendOnce } from './send-once.js';
import type { TradingOptions } from './trading-client.js';

export interface CreateApiKeyRequest {
  /** The confirmation code that `sendCode` had mailed. */
  readonly code: Secret;
  /** The code of the second factor, where that is on. */
  readonly otp?: Secret;
  /** ISO 8601; null or nothing means no expiry. */
  readonly expiresAt?: string | null;
}

/** A key that was made. Keep the secret: the exchange never shows it again. `new ApiKey(key, secret)` signs with it. */
export interface CreatedApiKey extends ApiKeyInfo {
  readonly secret: Secret;
}

const PATH = '/auth/api-key';

/**
 * Makes and revokes the account's API key (parts 4.1 and 5.4), with a JWT. An account has one key: **making another
 * kills the one in use**. Every request is sent once; when it is not known whether it was carried out, the call rejects
 * with `OutcomeUnknownError`.
 */
export class ApiKeyAdmin {
  constructor(
    private readonly exchange: ExchangeClient,
    private readonly credentials: Pick<Credentials, 'jwt'>,
  ) {}

  /** `POST /auth/api-key/send-code`: has a confirmation code mailed to the account. */
  async sendCode(options: TradingOptions = {}): Promise<void> {
    const look = 'look into the mailbox';
    await this.#send('send-code', 'POST', `${PATH}/send-code`, look, options, () => ({ value: undefined }));
  }

  /** `POST /auth/api-key`: makes a key, which deactivates the one before it. */
  async createApiKey(
    { code, otp, expiresAt }: CreateApiKeyRequest,
    options: TradingOptions = {},
  ): Promise<CreatedApiKey> {
    const body: CreateApiKeyRequestWire = {
      code: code.reveal(),
      ...(otp === undefined ? {} : { otp: otp.reveal() }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    const secrets = otp === undefined ? [code] : [code, otp];
    const look = 'read apiKeyInfo; a key whose secret did not arrive is of no use';
    const sent = { ...options, secrets, body: JSON.stringify(body) };
    const created = decodeCreatedApiKey(await this.#send('create-api-key', 'POST', PATH, look, sent, parseJson));
    if (!created.ok) throw new SchemaError(`create-api-key POST ${PATH}`, created.path, created.reason);
    const { ok: _, ...key } = created;
    return key;
  }

  /** `DELETE /auth/api-key`: revokes the active key. */
  async deleteApiKey(options: TradingOptions = {}): Promise<void> {
    await this.#send('delete-api-key', 'DELETE', PATH, 'read apiKeyInfo', options, () => ({ value: undefined }));
  }

  #send<J>(
    name: string,
    method: 'POST' | 'DELETE',
    path: string,
    look: string,
    { signal, body, secrets }: TradingOptions & { readonly body?: string; readonly secrets?: readonly Secret[] },
    parse: (bytes: Buffer) => { readonly value: J } | undefined,
  ): Promise<J> {
    const { requester } = this.exchange;
    const authorizer = authorizerOf(this.credentials, 'jwt', requester.serverTime, name);
    const request = { name, method, path, body, secrets: secrets ?? [], authorizer, repeatable: false, parse };
    return sendOnce(`${name} ${method} ${path}`, look, async () => (await requester.send(request, signal)).value);
  }
}
