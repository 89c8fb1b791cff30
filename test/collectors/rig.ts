import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { type Bus, openEmbeddedBus } from '../../bus/index.js';
import { collectorOptions } from '../../cli/parts/part-options.js';
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
import { readAll } from '../bus/rig.js';
import { openEvent, startServer, type TestServer } from '../exchange/server-support.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

/** A logger that keeps its lines. */
export function memoryLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
  return { log, lines };
}

export type EventOf<T extends CollectorEvent['type']> = Extract<CollectorEvent, { type: T }> & { readonly at: number };

/** A collector on a bus of its own, that knows what it put there. */
export interface CollectorRig {
  readonly collector: Collector;
  readonly bus: Bus;
  readonly data: string;
  readonly lines: LogLine[];
  readonly metrics: Registry;
  stop(): Promise<void>;
  /** Everything on a topic, in the order of `n`. */
  records(topic: Topic): Promise<RawRecord[]>;
  /** All collector events, or those of one type. */
  events<T extends CollectorEvent['type']>(type: T): Promise<EventOf<T>[]>;
  /** Resolves with the collector events of a type once they fulfil the condition. */
  waitForEvents<T extends CollectorEvent['type']>(
    type: T,
    condition: (found: EventOf<T>[]) => boolean,
  ): Promise<EventOf<T>[]>;
}

export interface RigOptions extends Partial<CollectorOptions> {
  readonly data?: string;
  readonly settings?: Partial<Record<keyof Settings, unknown>>;
}

/** A quiet exchange with as many events, of one market each. */
export async function exchangeWith(count: number, quirks = ''): Promise<{ server: TestServer; events: EventView[] }> {
  const server = await startServer({ events: 0, quirks });
  const events = Array.from({ length: count }, (_, i) => openEvent(server.core, `event ${i}`, [0.3 + (i % 40) / 100]));
  return { server, events };
}

/** Never, within a test: what is scheduled runs once at the start. */
export const NEVER = '0 0 0 1 1 *';

export async function startCollector(exchangeUrl: string, options: RigOptions = {}): Promise<CollectorRig> {
  const data = options.data ?? temporaryFolder();
  const flags = { data, exchangeUrl, eventsSchedule: '* * * * * *', historySchedule: NEVER, ...options.settings };
  const settings = loadConfig(flags, {}, data);
  const bus = options.bus ?? openEmbeddedBus({ dir: join(data, 'bus'), retentionEveryMs: 0 });
  const { log, lines } = memoryLog();
  const metrics = new Registry();
  const { settings: _, data: __, ...given } = options;
  const tuning = { answerMs: 1500, reconnectCapMs: 50, metrics, log };
  const collector = new Collector({ ...collectorOptions(settings), ...tuning, ...given, bus });
  onTestFinished(async () => {
    await collector.stop();
    await bus.close();
  });
  await collector.start(new AbortController().signal);
  const records = (topic: Topic) => recordsOf(bus, topic);
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

export async function recordsOf(bus: Bus, topic: Topic): Promise<RawRecord[]> {
  const all = (await readAll(bus, topic)).flat().map((text) => recordOf(JSON.parse(text) as EnvelopeJson));
  return all.sort((a, b) => a.sequence - b.sequence);
}

export function eventsOf<T extends CollectorEvent['type']>(records: readonly RawRecord[], type: T): EventOf<T>[] {
  return records
    .filter((r) => (r.body as CollectorEvent).type === type)
    .map((r) => ({ ...(r.body as EventOf<T>), at: r.receivedAt }));
}

export const metricOf = async (metrics: Registry, name: string): Promise<number> => {
  const metric = await metrics.getSingleMetric(`chancery_collector_${name}`)?.get();
  return metric?.values.reduce((sum, v) => sum + v.value, 0) ?? 0;
};
