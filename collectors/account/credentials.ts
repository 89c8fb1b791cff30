import {
  ApiKey,
  type Credentials,
  type ExchangeClient,
  ForbiddenError,
  LoginSession,
  UnauthorizedError,
} from '../../client/index.js';
import { type AccountCredentials, UsageError } from '../../core/index.js';

/** The client's credentials for a configured account. @throws UsageError when they are malformed */
export function credentialsOf(account: AccountCredentials, exchange: ExchangeClient): Credentials {
  const { apiKey, token, login } = account;
  return {
    apiKey: apiKey && new ApiKey(apiKey.key, apiKey.secret),
    jwt: token ?? (login && new LoginSession(exchange, { ...login })),
  };
}

/** Whether the exchange rejected the credentials, or they cannot be used. */
export function isRejected(error: unknown): boolean {
  return error instanceof UnauthorizedError || error instanceof ForbiddenError || error instanceof UsageError;
}
