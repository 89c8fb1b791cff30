import type { AccountView, ExchangeCore } from '../../engine/index.js';
import type { RouteRequest } from '../route.js';

/** The user ID of the account that calls a private route. */
export function callerOf({ userId }: RouteRequest): string {
  if (userId === undefined) throw new Error('the route is not private');
  return userId;
}

/** The account that calls a private route. */
export function accountOf(core: Pick<ExchangeCore, 'account'>, request: RouteRequest): AccountView {
  const account = core.account(callerOf(request));
  if (!account) throw new Error('an account without a record was let in');
  return account;
}
