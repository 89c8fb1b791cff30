import type { FastifyReply } from 'fastify';
import { searchRequestSchema } from '../../../client/wire/index.js';
import { MAX_HISTORY_POINTS } from '../../chance-history.js';
import type { Category, ChancePoint, ExchangeCore } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import { readHistory, readHistoryRequest } from '../history-request.js';
import { isoOfMicros } from '../iso-time.js';
import type { Quirks } from '../quirks.js';
import type { Route, RouteRequest } from '../route.js';
import { TimeSlice } from '../time-slice.js';
import type { WireEncoder } from '../wire-encoder.js';
import { searchEvents } from './event-search.js';
import { eventToWire } from './event-shape.js';
import { param, requiredText, validBody, wholeNumber } from './validate.js';

interface PublicRoutesOptions {
  readonly core: ExchangeCore;
  readonly quirks: Quirks;
  readonly encoder: WireEncoder;
}

/** The public endpoints, parts 4.3 (coins) and 4.5. */
export function publicRoutes(options: PublicRoutesOptions): readonly Route[] {
  const { core } = options;
  const route = (method: Route['method'], url: string, handler: Route['handler']): Route => ({
    method,
    url,
    access: 'public',
    handler,
  });
  return [
    route('POST', '/api/events/search', (request, reply) => search(options, request, reply)),
    route('GET', '/api/categories', () => core.categories().map(categoryToWire)),
    route('GET', '/api/tags/popular', ({ query }) => {
      const limit = wholeNumber(query, 'limit', { preset: 10, min: 1, max: 100 });
      const tags = core.tags().slice(0, limit);
      return tags.map(({ name, rank }) => ({ n: name, r: rank }));
    }),
    route('GET', '/api/coins', () => coins(core)),
    route('GET', '/api/events/:eventId/outcomes/:marketId/history', (request) => history(core, request)),
  ];
}

/** The response is encoded event by event, so that a large one does not block the event loop. */
async function search(
  { core, quirks, encoder }: PublicRoutesOptions,
  { query, body }: RouteRequest,
  reply: FastifyReply,
) {
  const page = wholeNumber(query, 'page', { preset: 0, min: 0 });
  const size = Math.min(wholeNumber(query, 'size', { preset: 20, min: 1 }), quirks.maxPageSize);
  const request = validBody(searchRequestSchema, body === undefined ? {} : body);
  const found = await searchEvents(core, request);
  const slice = new TimeSlice();
  const pieces = ['{"content":['];
  for (const [n, event] of found.slice(page * size, (page + 1) * size).entries()) {
    pieces.push(`${n > 0 ? ',' : ''}${encoder.encode(eventToWire(event, quirks.eventShape))}`);
    await slice.yieldWhenOver();
  }
  const totals = { totalElements: found.length, totalPages: Math.ceil(found.length / size) };
  pieces.push(`],${encoder.encode(totals).slice(1)}`);
  return reply.type('application/json; charset=utf-8').send(pieces.join(''));
}

function history(core: ExchangeCore, request: RouteRequest): readonly ChancePoint[] {
  const [period, from, to] = ['period', 'from', 'to'].map((name) => requiredText(request.query, name));
  const range = readHistoryRequest({ period, from: from ?? '', to: to ?? '' });
  if (typeof range === 'string') throw new HttpError(400, range);
  const event = core.event(param(request, 'eventId'));
  if (!event) throw new HttpError(404, 'there is no such event');
  const market = event.markets.find(({ marketId }) => marketId === param(request, 'marketId'));
  if (!market) throw new HttpError(404, 'the event has no such outcome');
  const points = readHistory(core, market.marketId, range);
  if (!points) {
    throw new HttpError(
      400,
      `the range has more than ${MAX_HISTORY_POINTS} points; request a shorter range or a longer period`,
    );
  }
  return points;
}

/** A subcategory is nested in its parent and has no `parentId`; `children` is present only if there are any. */
function categoryToWire({ id, name, slug, parentId, children }: Category): Record<string, unknown> {
  return { i: id, n: name, s: slug, pi: parentId, sc: children.map(subcategoryToWire) };
}

function subcategoryToWire({ id, name, slug, children }: Category): Record<string, unknown> {
  return { i: id, n: name, s: slug, ...(children.length > 0 ? { sc: children.map(subcategoryToWire) } : {}) };
}

function coins(core: ExchangeCore): readonly Record<string, unknown>[] {
  return core.coins().map((coin) => ({
    i: coin.coinId,
    n: coin.name,
    sn: coin.ticker,
    ur: coin.usdRate,
    urd: isoOfMicros(coin.usdRateAt),
    dpf: coin.fullDecimals,
    dps: coin.shortDecimals,
    ac: coin.status,
    iu: `https://icons.exchange.example/coins/${coin.ticker.toLowerCase()}.svg`,
    sc: coin.system,
    pmc: coin.collateral,
  }));
}
