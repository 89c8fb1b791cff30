import { setTimeout as delay } from 'node:timers/promises';
import { Random, systemClock } from '../../core/index.js';
import { until } from '../support/until.js';
import { type Accounts, account } from './accounting.js';
import type { Kind } from './kind.js';
import type { EventStreamName, TradedEvent } from './market.js';
import { FaultStage, type Pace } from './stage.js';

/** One fault that was caused. */
export interface Occurrence {
  readonly kind: string;
  readonly stream: EventStreamName | undefined;
  /** Events that it may have concerned; undefined: all. */
  readonly events: readonly TradedEvent[] | undefined;
  /** Unix microseconds. */
  readonly at: number;
  readonly detectedAt: number | undefined;
  /** When it was over. */
  readonly endedAt: number;
  /** When rows arrived again. */
  readonly recoveredAt: number;
  /** Whether `coverage` called the event live a second after the fault, while it was not detected. */
  readonly liveMeanwhile: boolean | undefined;
}

export interface FaultsOptions {
  readonly kinds: readonly Kind[];
  readonly occurrences: number;
  readonly seed: number;
  readonly pace: Pace;
  readonly signal?: AbortSignal;
  readonly say?: (line: string) => void;
}

export interface FaultsResult {
  readonly occurrences: readonly Occurrence[];
  readonly accounts: Accounts;
  /** Kinds that could not be caused here, and why. */
  readonly unavailable: ReadonlyMap<string, string>;
  readonly seconds: number;
}

/** More than any detection takes, also on a busy machine. */
const DETECT_MS = 120_000;
const MEANWHILE_MS = 1000;
/** Time for a new subscription after a detected fault: its gap must have ended before the next fault. */
const RESUBSCRIBE_MS = 1000;
/** More than raw history of all events takes. */
const BACKFILL_MS = 60_000;

/** Causes every kind of fault several times, and compares what was recorded with what happened. */
export async function runFaults(options: FaultsOptions): Promise<FaultsResult> {
  const startedAt = performance.now();
  const { pace, seed, kinds, say = () => undefined, signal } = options;
  const stage = await FaultStage.start(pace, seed);
  try {
    const since = systemClock.nowMicros();
    say('every event is subscribed');
    const unavailable = new Map(
      kinds.flatMap((kind) => {
        const reason = kind.unavailable?.(stage);
        return reason === undefined ? [] : [[kind.name, reason] as const];
      }),
    );
    const run = new FaultRun(stage, new Random(seed, 'faults'), say, signal);
    const possible = kinds.filter(({ name }) => !unavailable.has(name));
    const repeated = (chosen: readonly Kind[]) => Array.from({ length: options.occurrences }, () => chosen).flat();
    await Promise.all([
      run.ofStreams(repeated(possible.filter(({ stream }) => stream))),
      run.inTurn(repeated(possible.filter(({ stream, alone }) => !stream && !alone))),
    ]);
    await run.inTurn(repeated(possible.filter(({ alone }) => alone)));
    await stage.market.stop();
    const accounts = await afterBackfills(stage, since);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return { occurrences: run.occurrences, accounts, unavailable, seconds };
  } finally {
    await stage.close();
  }
}

/** Backfills of the last faults may follow. */
async function afterBackfills(stage: FaultStage, since: number): Promise<Accounts> {
  await stage.rig.drained();
  let accounts = await account(stage, since);
  await until(async () => {
    accounts = await account(stage, since);
    const missing = accounts.lost.filter(
      ({ stream, explanation }) => stream === 'chance' && explanation !== 'backfilled',
    );
    return missing.length === 0 || `${missing.length} chances are not backfilled`;
  }, BACKFILL_MS).catch(() => undefined);
  return accounts;
}

class FaultRun {
  readonly occurrences: Occurrence[] = [];
  /** Events of a fault that has not ended. */
  readonly #busy = new Set<TradedEvent>();
  #released: () => void = () => undefined;

  constructor(
    private readonly stage: FaultStage,
    private readonly random: Random,
    private readonly say: (line: string) => void,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Faults of streams: at the same time, each on a connection whose events no other fault concerns. */
  async ofStreams(kinds: readonly Kind[]): Promise<void> {
    const connections = {
      'order-book': await this.stage.connections('order-book'),
      chance: await this.stage.connections('chance'),
    };
    const running = new Set<Promise<void>>();
    for (const kind of shuffled(kinds, this.random)) {
      if (!kind.stream) continue;
      const events = await this.#freeConnection(connections[kind.stream]);
      this.signal?.throwIfAborted();
      for (const event of events) this.#busy.add(event);
      const done = this.#occurrence(kind, events).finally(() => {
        running.delete(done);
        for (const event of events) this.#busy.delete(event);
        this.#released();
      });
      running.add(done);
    }
    await Promise.all(running);
  }

  /** Faults of requests or processes: one after the other. */
  async inTurn(kinds: readonly Kind[]): Promise<void> {
    for (const kind of kinds) {
      this.signal?.throwIfAborted();
      await this.#occurrence(kind, this.stage.market.events.slice(0, 1));
    }
  }

  async #freeConnection(connections: readonly TradedEvent[][]): Promise<readonly TradedEvent[]> {
    for (;;) {
      const free = connections.filter((events) => !events.some((event) => this.#busy.has(event)));
      if (free.length > 0) return this.random.pick(free);
      await new Promise<void>((resolve) => {
        this.#released = resolve;
      });
    }
  }

  async #occurrence(kind: Kind, connection: readonly TradedEvent[]): Promise<void> {
    const { stage, random } = this;
    const event = random.pick(connection);
    const stream = kind.stream ?? 'order-book';
    const connectionId = await stage.connectionOf(stream, event);
    const caused = await kind.cause({ stage, event, connectionId, random });
    const { at, evidence } = caused;
    let { detectedAt } = caused;
    let liveMeanwhile: boolean | undefined;
    if (evidence !== undefined && kind.expected === 'detected') {
      const detecting = stage.evidence.rowsOf(evidence, DETECT_MS);
      if (kind.stream) {
        const first = await Promise.race([detecting, delay(MEANWHILE_MS, 'undetected' as const)]);
        if (first === 'undetected') liveMeanwhile = await this.#isLive(kind.stream, event);
      }
      detectedAt = await detecting;
    }
    await caused.end?.();
    if (kind.stream) await delay(RESUBSCRIBE_MS);
    const endedAt = systemClock.nowMicros();
    const recoveredAt = await this.#recovered(kind, caused.events?.[0] ?? event);
    if (evidence !== undefined && kind.expected === 'possible') detectedAt = await stage.evidence.rowsOf(evidence, 0);
    const events = kind.stream ? connection : kind.alone ? undefined : (caused.events ?? []);
    this.occurrences.push({
      kind: kind.name,
      stream: kind.stream,
      events,
      at,
      detectedAt,
      endedAt,
      recoveredAt,
      liveMeanwhile,
    });
    const seconds =
      detectedAt === undefined ? 'not detected' : `detected after ${((detectedAt - at) / 1e6).toFixed(1)} s`;
    this.say(`${kind.name}: ${kind.expected === 'unchecked' ? 'ended' : seconds}`);
  }

  async #isLive(stream: EventStreamName, { eventId }: TradedEvent): Promise<boolean> {
    const live = await this.stage.rig.rows(
      `SELECT 1 FROM coverage WHERE stream = '${stream}' AND event = '${eventId}' AND state = 'live'`,
    );
    return live.length > 0;
  }

  /** Waits until changes of the event that were received from now on are rows. */
  async #recovered(kind: Kind, { eventId }: TradedEvent): Promise<number> {
    const now = systemClock.nowMicros();
    const rows = (table: string, source: string) => `
      SELECT 1 FROM ${table} WHERE event = '${eventId}' AND source = '${source}' AND received_at > fromUnixTimestamp64Micro(${now})`;
    const [prices, chances] = [rows('price_ticks', 'delta'), rows('chance_points', 'change')];
    const both = `SELECT * FROM (${prices} LIMIT 1) AS a CROSS JOIN (${chances} LIMIT 1) AS b`;
    const ofStream = kind.stream === 'order-book' ? prices : chances;
    const sql = kind.stream ? `${ofStream} AND EXISTS (${subscribed(kind.stream, eventId)})` : both;
    const at = await this.stage.evidence.rowsOf(sql, DETECT_MS);
    if (at === undefined) throw new Error(`after "${kind.name}", no changes were recorded for ${DETECT_MS} ms`);
    return at;
  }
}

/** A subscription that is reported stale again, or whose connection is replaced, has not recovered although it has rows. */
const subscribed = (stream: EventStreamName, eventId: string) => `
  SELECT 1 FROM (
    SELECT argMax(type, recorded_at) AS last_type, argMax(connection_id, recorded_at) AS last_connection
    FROM collector_events
    WHERE stream = '${stream}' AND event = '${eventId}' AND type IN ('subscribed', 'stale', 'unsubscribed'))
  WHERE last_type = 'subscribed'
    AND last_connection NOT IN (SELECT connection_id FROM collector_events WHERE type = 'disconnected')`;

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
