import { ApiKey, type Credentials, type ExchangeClient, LoginSession } from '../../client/index.js';
import type { AccountCredentials } from '../../core/index.js';

/** The credentials of a configured account as the client takes them. @throws UsageError when they cannot be what they should */
export function credentialsOf(account: AccountCredentials, exchange: ExchangeClient): Credentials {
  const { apiKey, token, login } = account;
  return {
    apiKey: apiKey && new ApiKey(apiKey.key, apiKey.secret),
    jwt: token ?? (login && new LoginSession(exchange, { ...login })),
  };
}
