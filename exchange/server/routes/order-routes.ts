import type { FastifyReply } from 'fastify';
import {
  limitOrderRequestSchema,
  type MarketOrderRequestWire,
  marketOrderRequestSchema,
  tpslRequestSchema,
} from '../../../client/wire/index.js';
import { centsOf, type ExchangeCore, hundredthsOf, microsOf, type Result, TPSL_STATUSES } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import type { Quirks } from '../quirks.js';
import { tpslRecord } from '../records/index.js';
import type { Route, RouteRequest } from '../route.js';
import { durable, sendDeleted } from './accepted.js';
import { callerOf } from './caller.js';
import { oneOf, param, requiredText, validBody } from './validate.js';

interface OrderRoutesOptions {
  readonly core: ExchangeCore;
  readonly trading: { readonly open: boolean };
  readonly quirks: Quirks;
}

/** Orders and TP/SL orders, part 4.2. */
export function orderRoutes({ core, trading, quirks }: OrderRoutesOptions): readonly Route[] {
  const route = (method: Route['method'], path: string, handler: Route['handler']): Route => ({
    method,
    url: `/orders${path}`,
    access: 'api-key',
    handler: (request, reply) => {
      if (method !== 'GET' && !trading.open) throw new HttpError(400, 'trading is closed');
      return handler(request, reply);
    },
  });
  const placed = (reply: FastifyReply, i: string) => reply.code(quirks.placeStatus).send({ i });
  const deleted = async (reply: FastifyReply, result: Result<unknown>) => {
    await durable(core, result);
    return sendDeleted(reply, quirks);
  };
  return [
    route('POST', '/limit', async (request, reply) =>
      placed(reply, (await durable(core, placeLimit(core, request))).orderId),
    ),
    route('POST', '/market', async (request, reply) =>
      placed(reply, (await durable(core, placeMarket(core, request))).orderId),
    ),
    route('DELETE', '/limit/:orderId', (request, reply) =>
      deleted(reply, core.cancel(callerOf(request), param(request, 'orderId'))),
    ),
    route('POST', '/tpsl', async (request, reply) =>
      placed(reply, (await durable(core, placeTpsl(core, request))).tpslId),
    ),
    route('GET', '/tpsl', (request) => listTpsl(core, request)),
    route('DELETE', '/tpsl/:tpslId', (request, reply) =>
      deleted(reply, core.cancelTpsl(callerOf(request), param(request, 'tpslId'))),
    ),
  ];
}

function placeLimit(core: ExchangeCore, request: RouteRequest) {
  const body = validBody(limitOrderRequestSchema, request.body);
  const [price, quantity] = [cents('p', body.p), hundredths(body.q)];
  return core.placeLimit({ ...target(core, request, body), side: body.s, price, quantity });
}

function placeMarket(core: ExchangeCore, request: RouteRequest) {
  const body = validBody(marketOrderRequestSchema, request.body);
  return core.placeMarket({ ...target(core, request, body), ...marketSize(body) });
}

function marketSize(body: MarketOrderRequestWire) {
  if (body.s === 'SELL') return { side: body.s, quantity: hundredths(body.q) };
  return { side: body.s, amountMicros: steps('am', body.am, microsOf, '0.000001') };
}

function placeTpsl(core: ExchangeCore, request: RouteRequest) {
  const body = validBody(tpslRequestSchema, request.body);
  const [takeProfit, stopLoss] = [body.t ?? undefined, body.l ?? undefined];
  const prices = {
    ...(takeProfit === undefined ? {} : { takeProfit: cents('t', takeProfit) }),
    ...(stopLoss === undefined ? {} : { stopLoss: cents('l', stopLoss) }),
  };
  const quantity = hundredths(body.q);
  const asset = core.asset(body.ba);
  if (asset && asset.outcome !== body.i) throw new HttpError(400, `i: the asset is ${asset.outcome}, not ${body.i}`);
  if (typeof body.oa === 'string') checkOpening(core, body.oa, body.o);
  return core.placeTpsl({ ...target(core, request, body), quantity, ...prices });
}

/** @throws HttpError 400 unless it is USDC or an asset of the market; the core reports an unknown market */
function checkOpening(core: ExchangeCore, assetId: string, marketId: string): void {
  if (assetId === core.usdcId) return;
  const asset = core.asset(assetId);
  const isElsewhere = asset?.marketId !== marketId && core.market(marketId) !== undefined;
  if (!asset || isElsewhere) throw new HttpError(400, 'oa: no asset of this market');
}

/** `primary` selects YES or NO; without `status` every TP/SL order of the asset is listed, oldest first. */
function listTpsl(core: ExchangeCore, request: RouteRequest) {
  const assetId = requiredText(request.query, 'assetId');
  const primary = oneOf(request.query, 'primary', ['true', 'false']);
  const status = oneOf(request.query, 'status', TPSL_STATUSES);
  const asset = core.asset(assetId);
  if (!asset) throw new HttpError(400, 'assetId: no such outcome asset');
  const fits = primary === undefined || (primary === 'true') === (asset.outcome === 'YES');
  const all = fits ? core.tpslOrders(callerOf(request)) : [];
  const found = all.filter((tpsl) => tpsl.assetId === assetId && (status === undefined || tpsl.status === status));
  return found.map(tpslRecord);
}

function target(core: ExchangeCore, request: RouteRequest, body: { e: string; o: string; ba: string; qa: string }) {
  if (body.qa !== core.usdcId) throw new HttpError(400, `qa: the quote asset is USDC, ${core.usdcId}`);
  return { userId: callerOf(request), eventId: body.e, marketId: body.o, assetId: body.ba };
}

const cents = (field: string, price: number): number => steps(field, price, centsOf, '0.01');
const hundredths = (quantity: number): number => steps('q', quantity, hundredthsOf, '0.01');

/** @throws HttpError 400 when the value is not a whole number of steps */
function steps(field: string, value: number, count: (value: number) => number | undefined, step: string): number {
  const counted = count(value);
  if (counted === undefined) throw new HttpError(400, `${field}: must be a multiple of ${step}, and not too large`);
  return counted;
}
