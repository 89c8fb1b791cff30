import type { Bus } from '../../bus/index.js';
import {
  type Comparison,
  type ControlInterface,
  compareAll,
  isOutstanding,
  type Query,
  type StreamCoverage,
  type UsedFault,
} from '../../certify/index.js';
import { systemClock } from '../../core/index.js';
import { type PolledAccount, untilPolled, untilProcessed } from './completeness.js';
import type { PerformedKill } from './injection.js';

/** Streams are found stale within 30 s, and skipped chances are backfilled within 60 s; then a difference is final. */
const FINAL_MS = 75_000;
const AGAIN_MS = 5000;

interface IdleOptions {
  readonly control: ControlInterface;
  readonly accounts: readonly PolledAccount[];
  readonly bus: Bus;
  /** Consumer group of the worker. */
  readonly group: string;
  readonly query: Query;
  /** What the coverage files of a release say that is made now. */
  readonly released: () => Promise<StreamCoverage>;
  readonly used: () => Promise<readonly UsedFault[]>;
  readonly kills: readonly PerformedKill[];
  /** Unix microseconds. */
  readonly recordedFrom: number;
  readonly onMessage: (text: string) => void;
}

export interface IdleOutcome {
  readonly comparisons: readonly Comparison[];
  readonly faults: readonly UsedFault[];
}

/** Closes trading, waits until everything is recorded, and compares; again while a backfill may be outstanding. */
export async function compareIdle(options: IdleOptions, signal: AbortSignal): Promise<IdleOutcome> {
  const { control, accounts, bus, group, query, kills, recordedFrom, onMessage } = options;
  onMessage('closing trading');
  await control.setTrading(false);
  const [startedAt, closedAt] = [performance.now(), Date.now() * 1000];
  onMessage('waiting until every poll is complete and every record is processed');
  await untilPolled(query, accounts, closedAt, signal);
  const ledger = await control.ledger();
  const faults = await options.used();
  for (;;) {
    const partitions = await untilProcessed(bus, group, signal);
    onMessage('comparing');
    const isLast = performance.now() - startedAt > FINAL_MS;
    const released = await options.released();
    const comparisons = await compareAll({
      ledger,
      faults,
      kills,
      query,
      released,
      bus,
      partitions,
      recordedFrom,
      closedAt,
      isLast,
    });
    if (isLast || !isOutstanding(comparisons)) return { comparisons, faults };
    await systemClock.sleep(AGAIN_MS, signal);
  }
}
