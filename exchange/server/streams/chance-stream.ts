import type { z } from 'zod';
import { chanceClientMessageSchema, explainIssue } from '../../../client/wire/index.js';
import { EXCHANGE_HOSTS } from '../../../core/index.js';
import { MAX_HISTORY_POINTS } from '../../chance-history.js';
import type { ChancePoint, EventView, ExchangeCore } from '../../engine/index.js';
import { StreamRequestError } from '../errors.js';
import type { Faults } from '../faults.js';
import { readHistory, readHistoryRequest } from '../history-request.js';
import { TimeSlice } from '../time-slice.js';
import { IdMap, type WireEncoder } from '../wire-encoder.js';
import { ChanceSubscriptions } from './chance-subscriptions.js';
import { sendDelta } from './send-delta.js';
import type { StreamEndpoint } from './stream-server.js';
import type { StreamSocket } from './stream-socket.js';

/** Maximum size of a HISTORY_RESPONSE; clients that need more request fewer outcomes at a time. */
const MAX_RESPONSE_BYTES = 15 * 1024 * 1024;

type ClientMessage = z.output<typeof chanceClientMessageSchema>;
type HistoryMessage = Extract<ClientMessage, { t: 'HISTORY' }>;

export interface ChanceStreamOptions {
  readonly core: Pick<ExchangeCore, 'event' | 'lastChanceAtOrBefore'>;
  readonly faults: Faults;
  readonly encoder: WireEncoder;
}

/** The chance history stream, part 6.2: last known and live points, one aggregated point per second, history. */
export class ChanceStream implements StreamEndpoint {
  readonly path = EXCHANGE_HOSTS.chanceWs.path;
  readonly stream = 'chance';
  readonly #subscriptions = new ChanceSubscriptions();

  constructor(private readonly options: ChanceStreamOptions) {}

  onMessage(socket: StreamSocket, message: unknown): Promise<void> | undefined {
    const parsed = chanceClientMessageSchema.safeParse(message);
    if (!parsed.success) {
      const { path, reason } = explainIssue(parsed.error, message);
      throw new StreamRequestError(path === '' ? reason : `${path}: ${reason}`);
    }
    const outcomes = [...new Set(parsed.data.o)];
    if (outcomes.length === 0) throw new StreamRequestError('o: expected at least one outcome ID');
    switch (parsed.data.t) {
      case 'SUBSCRIBE':
        this.#subscribe(socket, parsed.data.e, outcomes);
        return undefined;
      case 'UNSUBSCRIBE':
        this.#unsubscribe(socket, outcomes);
        return undefined;
      case 'HISTORY':
        return this.#history(socket, parsed.data, outcomes);
    }
  }

  onClose(socket: StreamSocket): void {
    this.#subscriptions.removeSocket(socket);
  }

  isSubscribed(socket: StreamSocket, eventId: string): boolean {
    return this.#subscriptions.isSubscribed(socket, eventId);
  }

  errorFrame(text: string, message: unknown): Buffer {
    const about = typeof message === 'object' && message !== null ? (message as { e?: unknown; o?: unknown }) : {};
    return this.#frame({
      t: 'error',
      ...(typeof about.e === 'string' ? { e: about.e } : {}),
      ...(isTexts(about.o) ? { o: about.o } : {}),
      r: text,
    });
  }

  /** Sends a live point to the outcome's subscribers. */
  publishLive(eventId: string, marketId: string, point: ChancePoint): void {
    const subscribers = this.#subscriptions.of(marketId);
    if (!subscribers) return;
    const frame = this.#frame({ t: 'probability', e: eventId, o: [marketId], d: point });
    sendDelta({ stream: this.stream, eventId, frame }, subscribers, this.options.faults);
  }

  /** Sends the aggregated point of a completed second. */
  publishAggregated(eventId: string, marketId: string, point: ChancePoint): void {
    const subscribers = this.#subscriptions.of(marketId);
    if (!subscribers) return;
    const frame = this.#frame({ t: 'UPDATE_HISTORY', e: eventId, o: [marketId], d: point });
    for (const socket of subscribers) socket.send(frame, eventId);
  }

  #subscribe(socket: StreamSocket, e: string, outcomes: readonly string[]): void {
    const event = this.#eventWith(e, outcomes);
    for (const marketId of outcomes) this.#subscriptions.add(socket, e, marketId);
    const points = outcomes.map((marketId) => [marketId, this.#lastPoint(event, marketId)]);
    socket.send(this.#frame({ t: 'probability', e, o: outcomes, d: new IdMap(Object.fromEntries(points)) }), e);
    const text = `subscribed to ${outcomes.length} ${outcomes.length === 1 ? 'outcome' : 'outcomes'}`;
    socket.send(this.#frame({ t: 'success', e, o: outcomes, d: { message: text } }), e);
  }

  #unsubscribe(socket: StreamSocket, outcomes: readonly string[]): void {
    for (const marketId of outcomes) this.#subscriptions.remove(socket, marketId);
    const text = `unsubscribed from ${outcomes.length} ${outcomes.length === 1 ? 'outcome' : 'outcomes'}`;
    socket.send(this.#frame({ t: 'success', o: outcomes, d: { message: text } }));
  }

  async #history(socket: StreamSocket, message: HistoryMessage, outcomes: readonly string[]): Promise<void> {
    const { e, d } = message;
    const range = readHistoryRequest({ period: d.p ?? undefined, from: d.f, to: d.t });
    if (typeof range === 'string') throw new StreamRequestError(range);
    this.#eventWith(e, outcomes);
    const { core, encoder, faults } = this.options;
    const slice = new TimeSlice();
    const parts: string[] = [];
    let bytes = 0;
    for (const marketId of outcomes) {
      const points = readHistory(core, marketId, range);
      if (!points) throw new StreamRequestError(`more than ${MAX_HISTORY_POINTS} points for outcome ${marketId}`);
      const part = `${JSON.stringify(marketId)}:${encoder.encode(points)}`;
      bytes += part.length;
      if (bytes > MAX_RESPONSE_BYTES) throw new StreamRequestError('too many points at once; request fewer outcomes');
      parts.push(part);
      await slice.yieldWhenOver();
    }
    const envelope = encoder.encode({ t: 'HISTORY_RESPONSE', e, o: outcomes });
    const frame = Buffer.from(`${envelope.slice(0, -1)},"d":{${parts.join(',')}}}`);
    const late = faults.take('late-history', { stream: this.stream, eventId: e, isBot: socket.isBot });
    if (late) setTimeout(() => socket.send(frame, e), late.ms).unref();
    else socket.send(frame, e);
  }

  #lastPoint(event: EventView, marketId: string): ChancePoint {
    const last = this.options.core.lastChanceAtOrBefore(marketId, Number.MAX_SAFE_INTEGER);
    if (last) return last;
    const market = event.markets.find((m) => m.marketId === marketId);
    return { t: Math.floor((market?.openedAt ?? event.createdAt) / 1e6), p: market?.chance ?? 0 };
  }

  /** @throws StreamRequestError when there is no such event or one of the outcomes belongs to another */
  #eventWith(eventId: string, outcomes: readonly string[]): EventView {
    const event = this.options.core.event(eventId);
    if (!event) throw new StreamRequestError(`unknown event ${eventId.slice(0, 100)}`);
    const known = new Set(event.markets.map((market) => market.marketId));
    const unknownId = outcomes.find((id) => !known.has(id));
    if (unknownId !== undefined) throw new StreamRequestError(`the event has no outcome ${unknownId.slice(0, 100)}`);
    return event;
  }

  #frame(message: object): Buffer {
    return Buffer.from(this.options.encoder.encode(message));
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
