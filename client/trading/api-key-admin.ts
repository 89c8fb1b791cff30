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
  /** The confirmation code from the mail that `sendCode` triggered. */
  readonly code: Secret;
  /** The code of the second factor, when it is enabled. */
  readonly otp?: Secret;
  /** ISO 8601; null or absent means no expiry. */
  readonly expiresAt?: string | null;
}

/** A new key. Store the secret: the exchange does not show it again. `new ApiKey(key, secret)` signs with it. */
export interface CreatedApiKey extends ApiKeyInfo {
  readonly secret: Secret;
}

const PATH = '/auth/api-key';

/**
 * Creates and revokes the account's API key (parts 4.1 and 5.4); requires a JWT. An account has one key: **creating a
 * key deactivates the current one**. Every request is sent once; when it may or may not have taken effect, the call
 * rejects with `OutcomeUnknownError`.
 */
export class ApiKeyAdmin {
  constructor(
    private readonly exchange: ExchangeClient,
    private readonly credentials: Pick<Credentials, 'jwt'>,
  ) {}

  /** `POST /auth/api-key/send-code`: sends a confirmation code to the account's mailbox. */
  async sendCode(options: TradingOptions = {}): Promise<void> {
    const howToCheck = 'check the mailbox';
    await this.#send('send-code', 'POST', `${PATH}/send-code`, howToCheck, options, () => ({ value: undefined }));
  }

  /** `POST /auth/api-key`: creates a key and deactivates the current one. */
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
    const howToCheck = 'call apiKeyInfo; a key whose secret was not received cannot be used';
    const sent = { ...options, secrets, body: JSON.stringify(body) };
    const created = decodeCreatedApiKey(await this.#send('create-api-key', 'POST', PATH, howToCheck, sent, parseJson));
    if (!created.ok) throw new SchemaError(`create-api-key POST ${PATH}`, created.path, created.reason);
    const { ok: _, ...key } = created;
    return key;
  }

  /** `DELETE /auth/api-key`: revokes the active key. */
  async deleteApiKey(options: TradingOptions = {}): Promise<void> {
    await this.#send('delete-api-key', 'DELETE', PATH, 'call apiKeyInfo', options, () => ({ value: undefined }));
  }

  #send<J>(
    name: string,
    method: 'POST' | 'DELETE',
    path: string,
    howToCheck: string,
    { signal, body, secrets }: TradingOptions & { readonly body?: string; readonly secrets?: readonly Secret[] },
    parse: (bytes: Buffer) => { readonly value: J } | undefined,
  ): Promise<J> {
    const { requester } = this.exchange;
    const authorizer = authorizerOf(this.credentials, 'jwt', requester.serverTime, name);
    const request = { name, method, path, body, secrets: secrets ?? [], authorizer, repeatable: false, parse };
    return sendOnce(`${name} ${method} ${path}`, howToCheck, async () => (await requester.send(request, signal)).value);
  }
}
