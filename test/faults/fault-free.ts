import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../core/index.js';
import { Rig } from '../pipeline/rig.js';
import { until } from '../support/until.js';

interface FaultFreeOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly signal?: AbortSignal;
  readonly say?: (line: string) => void;
}

/** What a run without faults must not have, each with its number of rows. */
export interface FaultFreeReport {
  readonly minutes: number;
  readonly seed: number;
  readonly pace: number;
  readonly events: number;
  readonly priceChanges: number;
  readonly audits: number;
  readonly polls: number;
  readonly alarms: Readonly<Record<string, number>>;
  /** The first rows of each alarm. */
  readonly rows: readonly string[];
}

const PACE = 10;
const EVENTS = 12;
const SAY_EVERY_MS = 60_000;
const MAX_LISTED = 5;
/**
 * An event that opens while recording is subscribed after it was found. Longer gaps are alarms; those of this length are
 * the time before its initial snapshot, and are named as that.
 */
const MAX_NEW_EVENT_SECONDS = 5;

/** Each SELECT has a row per false alarm. `{since}` is the time at which every event was subscribed. */
const ALARMS: Readonly<Record<string, string>> = {
  gaps: `SELECT * FROM gaps WHERE ends_at > {since} AND NOT (cause = 'not yet subscribed' AND seconds < ${MAX_NEW_EVENT_SECONDS})
    AND NOT (event IN (SELECT event FROM events WHERE NOT open) AND cause LIKE 'unsubscribed%')`,
  'dead letters': 'SELECT * FROM dead_letters',
  'audit mismatches': 'SELECT * FROM audit_mismatches',
  'stale events': "SELECT * FROM collector_events WHERE type = 'stale'",
  disconnects: "SELECT * FROM collector_events WHERE type = 'disconnected'",
  'polls that are not complete': "SELECT * FROM polls WHERE outcome != 'complete'",
  'skipped chance points': 'SELECT * FROM skipped_chance_points WHERE occurred_at > {since}',
  'repeated price changes': 'SELECT * FROM price_ticks WHERE repeated',
  'repeated chances': 'SELECT * FROM chance_points WHERE repeated',
  'died sessions': "SELECT * FROM sessions WHERE state = 'died'",
  'lost ranges': 'SELECT * FROM lost_ranges',
};

/** Runs everything without faults, with bots, and counts what looks like a fault. */
export async function runFaultFree({ minutes, seed, signal, say = () => undefined }: FaultFreeOptions) {
  const rig = new Rig();
  try {
    await rig.startExchange({ seed, events: EVENTS, pace: PACE });
    for (const command of ['warehouse', 'transform', 'collect'] as const) await rig.start(command);
    await until(async () => {
      const live = await rig.value<number>(`SELECT count() FROM coverage WHERE state = 'live'`).catch(() => 0);
      return live >= 2 * EVENTS || `${live} live subscriptions`;
    });
    const since = systemClock.nowMicros();
    const end = performance.now() + minutes * 60_000;
    while (performance.now() < end) {
      await delay(Math.min(SAY_EVERY_MS, end - performance.now()), undefined, signal ? { signal } : {});
      say(`${await rig.value<number>('SELECT count() FROM price_ticks')} price changes`);
    }
    await rig.drained();
    return await reportOf(rig, { minutes, seed, since });
  } finally {
    await rig.close();
  }
}

export const isWithoutAlarms = ({ alarms }: FaultFreeReport): boolean => Object.values(alarms).every((n) => n === 0);

async function reportOf(
  rig: Rig,
  { minutes, seed, since }: { minutes: number; seed: number; since: number },
): Promise<FaultFreeReport> {
  const alarms: Record<string, number> = {};
  const rows: string[] = [];
  for (const [name, sql] of Object.entries(ALARMS)) {
    const found = await rig.rows<object>(sql.replace('{since}', `fromUnixTimestamp64Micro(${since})`));
    alarms[name] = found.length;
    rows.push(...found.slice(0, MAX_LISTED).map((row) => `${name}: ${JSON.stringify(row)}`));
  }
  const count = (table: string) => rig.value<number>(`SELECT count() FROM ${table}`);
  return {
    minutes,
    seed,
    pace: PACE,
    events: await count('events'),
    priceChanges: await count('price_ticks'),
    audits: await count('audits'),
    polls: await count('polls'),
    alarms,
    rows,
  };
}
