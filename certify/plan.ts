import { Random } from '../core/index.js';
import type { FaultRequest } from './truth.js';

export const KILLED_SERVICES = ['collect', 'transform', 'clickhouse', 'exchange'] as const;
export type KilledService = (typeof KILLED_SERVICES)[number];

/** A fault to arm, or a process to kill, this long after the start of recording. */
export type Action =
  | { readonly atMs: number; readonly fault: FaultRequest }
  | { readonly atMs: number; readonly kill: KilledService };

/** Mean intervals between faults, and between kills. */
const FAULT_MS = 3000;
const KILL_MS = 20_000;
/** Nothing happens before: the pipeline is to have seen every event. */
const QUIET_MS = 5000;
const MAX_SKIPPED = 3;
/** How far a clock is ahead, milliseconds. */
const SKEW_MS = 3_600_000;

/** What the exchange can do to the collector, by stream. A stale connection stays stale until the collector replaces it. */
const FAULTS: readonly Omit<FaultRequest, 'count'>[] = [
  ...(['order-book', 'chance'] as const).flatMap((stream) => [
    { stream, kind: 'skip-delta' },
    { stream, kind: 'duplicate-delta' },
    { stream, kind: 'reorder-deltas' },
    { stream, kind: 'drop-connection' },
    { stream, kind: 'freeze' },
    { stream, kind: 'malformed-frame' },
    { stream, kind: 'oversized-frame' },
    { stream, kind: 'rename-field' },
    { stream, kind: 'number-as-text' },
    { stream, kind: 'slow', ms: 500 },
  ]),
  { stream: 'chance', kind: 'late-history', ms: 2000 },
  { stream: 'chance', kind: 'clock-skew', ms: SKEW_MS },
  { stream: 'orders', kind: 'drop-connection' },
  { stream: 'balance', kind: 'drop-connection' },
  { stream: 'balance', kind: 'skip-delta' },
  { stream: 'rest', kind: 'http-429' },
  { stream: 'rest', kind: 'http-500' },
  { stream: 'rest', kind: 'http-reset' },
  { stream: 'rest', kind: 'truncated-body' },
  { stream: 'rest', kind: 'slow', ms: 500 },
  { stream: 'rest', kind: 'stale-rest' },
];

/**
 * Faults and kills of a run, in order of time; the same for the same seed and time. Every kind of fault and every process
 * has its turn before any has a second one.
 */
export function planOf(seed: number, durationMs: number): Action[] {
  const random = new Random(seed, 'certify');
  const actions: Action[] = [];
  const next = turns(FAULTS, random);
  for (const atMs of timesUntil(durationMs, () => random.exponential(FAULT_MS))) {
    const fault = next();
    const count = fault.kind === 'skip-delta' || fault.stream === 'rest' ? random.integer(1, MAX_SKIPPED) : 1;
    actions.push({ atMs, fault: { ...fault, count } });
  }
  // With numbers of their own: another kind of fault does not change which processes are killed, and when.
  const kills = new Random(seed, 'certify kills');
  const victim = turns(KILLED_SERVICES, kills);
  for (const atMs of timesUntil(durationMs, () => KILL_MS * (0.5 + kills.next()))) {
    actions.push({ atMs, kill: victim() });
  }
  return actions.sort((a, b) => a.atMs - b.atMs);
}

function timesUntil(endMs: number, intervalMs: () => number): number[] {
  const times: number[] = [];
  for (let atMs = QUIET_MS + intervalMs(); atMs < endMs; atMs += intervalMs()) times.push(Math.round(atMs));
  return times;
}

/** Items in random order, all of them before any is repeated. */
function turns<T>(items: readonly T[], random: Random): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) left = random.shuffled(items);
    return left.pop() as T;
  };
}

/** Number of faults and of kills of a plan. */
export const sizeOf = (plan: readonly Action[]): { faults: number; kills: number } => ({
  faults: plan.reduce((sum, action) => sum + ('fault' in action ? action.fault.count : 0), 0),
  kills: plan.filter((action) => 'kill' in action).length,
});
