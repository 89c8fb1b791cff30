import type { AccountView, ExchangeCore } from '../../engine/index.js';
import type { RouteRequest } from '../route.js';

/** The caller's user ID on a private route. */
export function callerOf({ userId }: RouteRequest): string {
  if (userId === undefined) throw new Error('the route is not private');
  return userId;
}

/** The caller's account on a private route. */
export function accountOf(core: Pick<ExchangeCore, 'account'>, request: RouteRequest): AccountView {
  const account = core.account(callerOf(request));
  if (!account) throw new Error('an authenticated account has no record');
  return account;
}
