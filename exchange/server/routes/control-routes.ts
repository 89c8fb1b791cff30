import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { EventView, ExchangeCore, Result } from '../../engine/index.js';
import { HttpError } from '../errors.js';
import {
  appliesTo,
  FAULT_KINDS,
  FAULT_STREAMS,
  FAULT_TARGETS,
  type FaultRequest,
  type Faults,
  NEEDS_MS,
} from '../faults.js';
import type { Quirks } from '../quirks.js';
import type { Route } from '../route.js';
import type { LoadGenerator } from '../streams/index.js';
import { durable } from './accepted.js';
import { eventToWire } from './event-shape.js';
import { truthLines } from './truth-lines.js';
import { param, validBody, wholeNumber } from './validate.js';

const MAX_FAULT_COUNT = 1_000_000;
const MAX_FAULT_MS = 600_000;
const MAX_SKEW_MS = 86_400_000;

const faultSchema = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  stream: z.enum(FAULT_STREAMS).optional(),
  eventId: z.string().min(1).optional(),
  count: z.int().min(1).max(MAX_FAULT_COUNT).optional(),
  target: z.enum(FAULT_TARGETS).default('any'),
  ms: z.number().min(-MAX_SKEW_MS).max(MAX_SKEW_MS).optional(),
  field: z.string().min(1).optional(),
  connection: z.boolean().optional(),
});
/** Checks types only; the core checks the values. */
const openEventSchema = z.looseObject({
  title: z.string(),
  category: z.string(),
  tags: z.array(z.string()).default([]),
  featured: z.boolean().optional(),
  markets: z.array(z.looseObject({ name: z.string(), chance: z.number() })),
});
const resolveSchema = z.looseObject({ marketId: z.string().min(1), winner: z.enum(['YES', 'NO']) });
const tradingSchema = z.strictObject({ open: z.boolean() });
const loadSchema = z.strictObject({ framesPerSecond: z.number().min(0).max(1_000_000) });

interface ControlRoutesOptions {
  readonly core: ExchangeCore;
  readonly trading: { open: boolean };
  readonly quirks: Quirks;
  readonly faults: Faults;
  readonly load: LoadGenerator;
}

/** Control calls for tests and demos: events, trading, faults, load, truth. */
export function controlRoutes({ core, trading, quirks, faults, load }: ControlRoutesOptions): readonly Route[] {
  const route = (method: Route['method'], path: string, handler: Route['handler']): Route => ({
    method,
    url: `/_control${path}`,
    access: 'control',
    handler,
  });
  const opened = async (result: Result<EventView>) => eventToWire(await durable(core, result), quirks.eventShape);
  return [
    route('POST', '/events', ({ body }) => {
      const { title, category, tags, featured, markets } = validBody(openEventSchema, body);
      const request = { title, category, tags, markets, ...(featured === undefined ? {} : { featured }) };
      return opened(core.openEvent(request));
    }),
    route('POST', '/events/:eventId/resolve', (request) => {
      const { marketId, winner } = validBody(resolveSchema, request.body);
      return opened(core.resolveMarket(param(request, 'eventId'), marketId, winner));
    }),
    route('POST', '/trading', ({ body }) => {
      trading.open = validBody(tradingSchema, body).open;
      return { open: trading.open };
    }),
    route('POST', '/faults', ({ body }) => faults.arm(faultRequest(body))),
    route('GET', '/faults', () => faults.list()),
    route('DELETE', '/faults/:id', (request) => {
      const fault = faults.disarm(Number(param(request, 'id')));
      if (!fault) throw new HttpError(404, `no fault ${param(request, 'id')} is armed`);
      return fault;
    }),
    route('POST', '/load', ({ body }) => {
      load.setRate(validBody(loadSchema, body).framesPerSecond);
      return load.counters();
    }),
    route('GET', '/load', () => load.counters()),
    route('GET', '/truth', () => core.truth()),
    route('GET', '/truth/trades', ({ query }, reply) =>
      sendLines(
        reply,
        truthLines((seq) => core.fillsAfter(seq), afterOf(query)),
      ),
    ),
    route('GET', '/truth/prices', ({ query }, reply) =>
      sendLines(
        reply,
        truthLines((seq) => core.pricesAfter(seq), afterOf(query)),
      ),
    ),
  ];
}

const sendLines = (reply: FastifyReply, lines: AsyncIterable<string>): FastifyReply =>
  reply.type('application/x-ndjson').send(Readable.from(lines));

const afterOf = (query: URLSearchParams): number => wholeNumber(query, 'after', { preset: 0, min: 0 });

function faultRequest(body: unknown): FaultRequest {
  const { count = 1, ...fault } = validBody(faultSchema, body);
  const { kind, stream, ms, field } = fault;
  if (stream !== undefined && !appliesTo(kind, stream)) {
    throw new HttpError(400, `kind: ${kind} does not apply to ${stream}`);
  }
  if (ms === undefined && NEEDS_MS.includes(kind)) throw new HttpError(400, `ms: required for ${kind}`);
  if (ms !== undefined && kind !== 'clock-skew' && (ms < 0 || ms > MAX_FAULT_MS)) {
    throw new HttpError(400, `ms: expected 0 to ${MAX_FAULT_MS} for ${kind}`);
  }
  if (fault.connection && (kind !== 'freeze' || fault.eventId === undefined)) {
    throw new HttpError(400, 'connection: only for freeze with eventId');
  }
  if (field !== undefined && kind !== 'rename-field' && kind !== 'number-as-text') {
    throw new HttpError(400, `field: ${kind} changes no field`);
  }
  return { ...fault, count };
}
