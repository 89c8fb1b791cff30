import type { ExchangeCore } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import type { Quirks } from '../quirks.js';
import { balances, depositAddress, fullBalances, MarketLookup, transactionRecord } from '../records/index.js';
import type { Route, RouteRequest } from '../route.js';
import { accountOf, callerOf } from './caller.js';
import { pageRequest, wrapped } from './paging.js';

const TRANSACTIONS_PER_PAGE = 20;

interface WalletRoutesOptions {
  readonly core: ExchangeCore;
  readonly quirks: Quirks;
}

/** Balances, deposit address and transactions, part 4.3. */
export function walletRoutes({ core, quirks }: WalletRoutesOptions): readonly Route[] {
  const route = (url: string, access: Route['access'], handler: Route['handler']): Route => ({
    method: 'GET',
    url,
    access,
    handler,
  });
  return [
    route('/api/user-balances', 'api-key', (request) => balances(accountOf(core, request), core.usdcId)),
    route('/api/user-balances/full', 'api-key', (request) => withNames(core, request)),
    route('/api/deposit/usdc-address', 'jwt', (request) => address(core, callerOf(request))),
    route('/api/transactions', 'jwt', (request) => transactions(core, quirks, request)),
  ];
}

function withNames(core: ExchangeCore, request: RouteRequest) {
  const coin = core.coins().find(({ coinId }) => coinId === core.usdcId);
  if (!coin) throw new Error('USDC is not listed');
  return fullBalances(accountOf(core, request), coin, new MarketLookup(core));
}

/** The address is generated with the first deposit. */
function address(core: ExchangeCore, userId: string) {
  const { total } = core.transactions(userId, { page: 0, size: 1 });
  if (total === 0) throw new HttpError(404, 'the deposit address has not been generated yet');
  return depositAddress(userId, core.usdcId);
}

function transactions(core: ExchangeCore, quirks: Quirks, request: RouteRequest) {
  const page = pageRequest(request.query, TRANSACTIONS_PER_PAGE, quirks);
  const { items, total } = core.transactions(callerOf(request), page);
  const lookup = new MarketLookup(core);
  return wrapped(
    items.map((item) => transactionRecord(item, lookup)),
    total,
    page,
  );
}
