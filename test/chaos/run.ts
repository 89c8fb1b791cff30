import { setTimeout as delay } from 'node:timers/promises';
import { Random, Stopped, TOPICS } from '../../core/index.js';
import type { Broker } from '../kafka/broker.js';
import { FAULTS, type Fault } from '../support/fault-proxy.js';
import { type Audit, Auditor } from './audit.js';
import { explain } from './explain.js';
import { killers } from './killers.js';
import { outlastWindow } from './outlast-window.js';
import { replaceLogs } from './replace-logs.js';
import type { ChaosReport } from './report.js';
import { type BusKind, Stage } from './stage.js';
import { Tally } from './tally.js';
import { Turns } from './turns.js';

export interface ChaosOptions {
  readonly bus: BusKind;
  readonly broker?: Broker;
  readonly minutes: number;
  readonly seed: number;
  /** The run ends early after this many kills. */
  readonly kills?: number;
  /** Whether some batches are large enough for a summary; they take several times as long to compare. */
  readonly hugeFrames?: boolean;
  /** Whether aggregates are compared and all views asked in the end, too: yes unless given. */
  readonly asksViews?: boolean;
  readonly signal?: AbortSignal;
  /** Receives a line per event. */
  readonly say?: (line: string) => void;
}

/** Number of events that are printed when a run does not finish. */
const LAST_EVENTS = 20;
/** Fraction of inserts, and of other requests to ClickHouse, that get a fault. */
const INSERT_FAULTS = 0.2;
const QUERY_FAULTS = 0.03;
/** When a worker first outlasts the window of tokens, and when the logs are first replaced, and how often from then on. */
const OUTLAST_MS = { from: 10_000, every: 150_000 };
const REPLACE_MS = { from: 25_000, every: 200_000 };

/** Injects kills, pauses and faults for a time; then waits until all records are written, and compares. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, bus, say = () => undefined } = options;
  const startedAt = performance.now();
  const faultRandom = new Random(seed);
  let faulty = false;
  const stage = await Stage.start({
    bus,
    ...(options.broker ? { broker: options.broker } : {}),
    seed,
    workers: 3,
    appenders: 2,
    recordsPerSecond: 120,
    load: 60,
    hugeFrames: options.hugeFrames ?? false,
    fault: (path) => (faulty ? chooseFault(faultRandom, path) : undefined),
    faultDelayMs: () => faultRandom.integer(20, 800),
    downMs: () => faultRandom.integer(0, 400),
  });
  try {
    const tally = new Tally((line) => {
      stage.journal.happened(line);
      say(line);
    });
    const turns = new Turns();
    const auditor = new Auditor(stage.rig, stage.acknowledgedFolder);
    const over = endOf(options, tally);
    const faults = (on: boolean) => {
      faulty = on;
    };
    const context = { stage, tally, turns, random: new Random(seed + 1), signal: over, faults, auditor };
    faults(true);
    await Promise.all([
      ...killers({ ...context, seed }),
      scheduled(OUTLAST_MS, over, () => outlastWindow(context)),
      scheduled(REPLACE_MS, over, () => replaceLogs(context)),
    ]);
    faults(false);
    options.signal?.throwIfAborted();
    say('the chaos is over; everything that is on the bus is written');
    await Promise.all(stage.collectors.map((collector) => collector.stop()));
    await stage.rig.drained();
    await auditor.readBus(Object.values(TOPICS));
    const audit = await (options.asksViews === false ? auditor.audit() : auditor.auditWithViews());
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const explanation = await explainAll(stage, audit);
    const summaries = stage.journal.inserts('price_ends');
    const { failures, proxy } = stage;
    return { bus, seed, seconds, tally, audit, summaries, faults: proxy.struck, failures, explanation };
  } catch (error) {
    if (error instanceof Stopped) throw error;
    const what = error instanceof Error ? error.message : String(error);
    const happened = stage.journal.last(LAST_EVENTS);
    throw new Error([`the chaos did not come to its end: ${what}`, ...stage.lastLogLines, ...happened].join('\n'), {
      cause: error,
    });
  } finally {
    await stage.close();
  }
}

async function explainAll(stage: Stage, { tables }: Audit): Promise<string[]> {
  const lines: string[] = [];
  for (const [table, difference] of tables) lines.push(...(await explain(stage.rig, stage.journal, table, difference)));
  return lines;
}

function chooseFault(random: Random, path: string): Fault | undefined {
  const inserts = path.includes('INSERT INTO');
  if (random.next() > (inserts ? INSERT_FAULTS : QUERY_FAULTS)) return undefined;
  return random.pick(FAULTS);
}

/** Aborted when the time is over, after the given number of kills, or by the caller. */
function endOf({ minutes, kills = Infinity, signal }: ChaosOptions, tally: Tally): AbortSignal {
  const over = new AbortController();
  // Not a signal of AbortSignal.timeout: one that was combined with others may be collected before it is due.
  setTimeout(() => over.abort(), minutes * 60_000).unref();
  tally.onKill = () => {
    if (tally.kills >= kills) over.abort();
  };
  if (signal?.aborted) over.abort();
  signal?.addEventListener('abort', () => over.abort(), { once: true });
  return over.signal;
}

/** Runs an action at its intervals until the signal is aborted. */
async function scheduled(
  { from, every }: { readonly from: number; readonly every: number },
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  for (let waitMs = from; ; waitMs = every) {
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await work();
  }
}
