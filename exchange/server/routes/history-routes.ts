import type { ExchangeCore, ProfileView } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import type { Quirks } from '../quirks.js';
import {
  activeOrder,
  activityItem,
  MarketLookup,
  openPosition,
  orderRecord,
  POSITION_TABS,
  positionStats,
  profileStats,
  tradeRecord,
} from '../records/index.js';
import type { Route, RouteRequest } from '../route.js';
import { accountOf, callerOf } from './caller.js';
import { type PageRequest, pageOf, pageRequest, wrapped } from './paging.js';
import { oneOf, optionalText, param } from './validate.js';

const RECORDS_PER_PAGE = 20;
const OPEN_PER_PAGE = 100;

interface HistoryRoutesOptions {
  readonly core: ExchangeCore;
  readonly quirks: Quirks;
}

/** History and positions, part 4.4. */
export function historyRoutes({ core, quirks }: HistoryRoutesOptions): readonly Route[] {
  const route = (path: string, handler: Route['handler']): Route => ({
    method: 'GET',
    url: `/api/history${path}`,
    access: 'api-key',
    handler,
  });
  return [
    route('/deals/open-positions', (request) =>
      openPositions(core, request, pageRequest(request.query, OPEN_PER_PAGE, quirks)),
    ),
    route('/deals/active-orders', (request) => {
      const page = pageRequest(request.query, OPEN_PER_PAGE, quirks);
      const orders = core.activeOrders(callerOf(request));
      return wrapped(pageOf(orders, page).map(activeOrder), orders.length, page);
    }),
    route('/orders', (request) => {
      const slice = sliceRequest(request, quirks);
      const sort = oneOf(request.query, 'sort', ['asc', 'desc']) ?? 'desc';
      const { items, total } = core.orders(callerOf(request), { ...slice, sort });
      return wrapped(items.map(orderRecord), total, slice);
    }),
    route('/trades', (request) => {
      const slice = sliceRequest(request, quirks);
      const { items, total } = core.trades(callerOf(request), slice);
      return tradesPage(items.map(tradeRecord), total, slice, quirks);
    }),
    route('/activity', (request) => activity(core, pageRequest(request.query, RECORDS_PER_PAGE, quirks))),
    route('/stats/profile/:userId', (request) => {
      const account = namedAccount(core, request);
      return profileStats(account, account.userId === callerOf(request), new MarketLookup(core));
    }),
    route('/stats/profile/:userId/positions', (request) => {
      const tab = oneOf(request.query, 'tab', POSITION_TABS);
      const account = namedAccount(core, request);
      const onlyClosed = account.positions.length === 0 && account.closedPositions > 0;
      return positionStats(account, tab ?? (onlyClosed ? 'closed' : 'active'));
    }),
  ];
}

function sliceRequest({ query }: RouteRequest, quirks: Quirks) {
  const marketId = optionalText(query, 'eventOutcomeId');
  return { ...pageRequest(query, RECORDS_PER_PAGE, quirks), ...(marketId === undefined ? {} : { marketId }) };
}

function openPositions(core: ExchangeCore, request: RouteRequest, page: PageRequest) {
  const { userId, positions } = accountOf(core, request);
  const lookup = new MarketLookup(core);
  const shown = pageOf(positions, page).map((position) => {
    const tpsl = core.activeTpsl(userId, position.marketId).filter(({ assetId }) => assetId === position.assetId);
    return openPosition(position, lookup, tpsl);
  });
  return wrapped(shown, positions.length, page);
}

/** Fills of all accounts, with the total of items instead of pages. */
function activity(core: ExchangeCore, page: PageRequest) {
  const { items, total } = core.activity(page);
  const lookup = new MarketLookup(core);
  const profiles = new Map<string, ProfileView>();
  const shown = items.map((trade) => {
    const taker = profiles.get(trade.userId) ?? core.profile(trade.userId);
    if (!taker) throw new Error(`a fill refers to account ${trade.userId}, which does not exist`);
    profiles.set(trade.userId, taker);
    return activityItem(trade, taker, lookup);
  });
  return { i: shown, p: page.page, s: page.size, t: total };
}

/** The wrapper of trades is not documented, so a quirk chooses between several. */
function tradesPage(items: readonly unknown[], total: number, page: PageRequest, { tradesWrapper }: Quirks): unknown {
  switch (tradesWrapper) {
    case 'array':
      return items;
    case 'i':
      return { i: items };
    case 'content':
      return { content: items, totalElements: total, totalPages: Math.ceil(total / page.size) };
    case 'wrapped':
      return wrapped(items, total, page);
  }
}

function namedAccount(core: ExchangeCore, request: RouteRequest) {
  const account = core.account(param(request, 'userId'));
  if (!account) throw new HttpError(404, 'there is no such user');
  return account;
}
