import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type Bus, openEmbeddedBus } from '../../bus/index.js';
import { collectorOptions } from '../../cli/service/service-options.js';
import { Collector, type CollectorOptions } from '../../collectors/index.js';
import {
  type CollectorEvent,
  type EnvelopeJson,
  type Logger,
  loadConfig,
  type RawRecord,
  recordOf,
  type Settings,
  TOPICS,
  type Topic,
} from '../../core/index.js';
import type { EventView } from '../../exchange/engine/index.js';
import { texts } from '../bus/rig.js';
import { openEvent } from '../exchange/server-support.js';
import { atEnd } from '../support/at-end.js';
import { startTestExchange, type TestExchange } from '../support/exchange.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

/** A logger that stores its lines. */
export function memoryLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
  return { log, lines };
}

export type EventOf<T extends CollectorEvent['type']> = Extract<CollectorEvent, { type: T }> & { readonly at: number };

/** A collector on a bus of its own, with access to the records. */
export interface CollectorRig {
  readonly collector: Collector;
  readonly bus: Bus;
  readonly data: string;
  readonly lines: LogLine[];
  readonly metrics: Registry;
  stop(): Promise<void>;
  /**
   * Everything on a topic, in the order of `sequence`. A collector event is on the bus when it has been seen, and the
   * records of other topics before it, which are appended at the same time: this waits for them.
   */
  records(topic: Topic): Promise<RawRecord[]>;
  /** All collector events, or those of one type. */
  events<T extends CollectorEvent['type']>(type: T): Promise<EventOf<T>[]>;
  /** Resolves with the collector events of a type once they fulfil the condition. */
  waitForEvents<T extends CollectorEvent['type']>(
    type: T,
    condition: (found: EventOf<T>[]) => boolean,
  ): Promise<EventOf<T>[]>;
}

export interface RigOptions extends Partial<Omit<CollectorOptions, 'settings'>> {
  readonly data?: string;
  readonly settings?: Partial<Record<keyof Settings, unknown>>;
}

/** A quiet exchange with as many events, of one market each. */
export async function exchangeWith(count: number, quirks = ''): Promise<{ server: TestExchange; events: EventView[] }> {
  const server = await startTestExchange({ events: 0, quirks });
  const events = Array.from({ length: count }, (_, i) => openEvent(server.core, `event ${i}`, [0.3 + (i % 40) / 100]));
  return { server, events };
}

/** Never within a test: scheduled work runs once at the start. */
export const NEVER = '0 0 0 1 1 *';

/** Timeout of probes: longer than a busy machine pauses a process, so that only a missing response is one. */
const ANSWER_MS = 5000;

export async function startCollector(exchangeUrl: string, options: RigOptions = {}): Promise<CollectorRig> {
  const data = options.data ?? temporaryFolder();
  const schedules = { eventsSchedule: '* * * * * *', newEventsSchedule: NEVER, historySchedule: NEVER };
  const often = { ...schedules, requestsPerSecond: 200 };
  const flags = { data, exchangeUrl, ...often, ...options.settings };
  const settings = loadConfig(flags, {}, data);
  const bus = options.bus ?? openEmbeddedBus({ dir: join(data, 'bus'), retentionEveryMs: 0 });
  const appended = trackAppends(bus);
  const { log, lines } = memoryLog();
  const metrics = new Registry();
  const { settings: _, data: __, ...given } = options;
  const tuning = { answerMs: ANSWER_MS, reconnectCapMs: 50, metrics, log };
  const collector = new Collector({ ...collectorOptions(settings), ...tuning, ...given, bus });
  atEnd(async () => {
    await collector.stop();
    await bus.close();
  });
  await collector.start(new AbortController().signal);
  const reader = new BusReader(bus);
  const records = async (topic: Topic) => {
    await appended();
    return reader.records(topic);
  };
  const eventsOfType: CollectorRig['events'] = async (type) => eventsOf(await records(TOPICS.collectorEvents), type);
  return {
    collector,
    bus,
    data,
    lines,
    metrics,
    stop: () => collector.stop(),
    records,
    events: eventsOfType,
    async waitForEvents(type, condition) {
      let found = await eventsOfType(type);
      await until(async () => {
        found = await eventsOfType(type);
        return condition(found);
      });
      return found;
    },
  };
}

/** Returns a function that waits until the appends that are under way have ended. */
function trackAppends(bus: Bus): () => Promise<unknown> {
  const underWay = new Set<Promise<unknown>>();
  const append = bus.append.bind(bus);
  bus.append = (...args) => {
    const appending = append(...args);
    const ended = appending.catch(() => undefined).finally(() => underWay.delete(ended));
    underWay.add(ended);
    return appending;
  };
  return () => Promise.all(underWay);
}

/** Reads the records of a bus incrementally, each once. */
export class BusReader {
  readonly #records = new Map<string, RawRecord[]>();
  readonly #next = new Map<string, number>();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(private readonly bus: Bus) {}

  /** Everything on a topic, in the order of `sequence`. */
  records(topic: Topic): Promise<RawRecord[]> {
    const read = this.#reading.then(() => this.#read(topic));
    this.#reading = read.catch(() => undefined);
    return read;
  }

  async #read(topic: Topic): Promise<RawRecord[]> {
    const records = this.#records.get(topic) ?? [];
    this.#records.set(topic, records);
    for (const { partition, begin, end } of (await this.bus.partitions()).filter((p) => p.topic === topic)) {
      const position = `${topic}/${partition}`;
      const from = this.#next.get(position) ?? begin;
      if (end <= from) continue;
      for await (const batch of this.bus.read(topic, partition, from, end - 1)) {
        records.push(...texts(batch).map((text) => recordOf(JSON.parse(text) as EnvelopeJson)));
        this.#next.set(position, batch.firstOffset + batch.count);
      }
    }
    return records.sort((a, b) => a.sequence - b.sequence).slice();
  }
}

export const recordsOf = (bus: Bus, topic: Topic): Promise<RawRecord[]> => new BusReader(bus).records(topic);

export function eventsOf<T extends CollectorEvent['type']>(records: readonly RawRecord[], type: T): EventOf<T>[] {
  return records
    .filter((r) => (r.body as CollectorEvent).type === type)
    .map((r) => ({ ...(r.body as EventOf<T>), at: r.receivedAt }));
}

export const metricOf = async (metrics: Registry, name: string): Promise<number> => {
  const metric = await metrics.getSingleMetric(`chancery_collector_${name}`)?.get();
  return metric?.values.reduce((sum, v) => sum + v.value, 0) ?? 0;
};
