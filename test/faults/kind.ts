import type { Random } from '../../core/index.js';
import type { EventStreamName, TradedEvent } from './market.js';
import type { FaultStage } from './stage.js';

/**
 * What must be found out about a fault:
 * - `detected`: its evidence must be in the database, or `status`, `doctor` or a metric must show it;
 * - `possible`: its evidence may be there, for example only until the next change; lost rows are in a gap or the estimate;
 * - `unchecked`: no evidence is searched for; lost rows must be explained as for the others.
 */
export type Expectation = 'detected' | 'possible' | 'unchecked';

/** Where and how a fault is caused. */
export interface FaultTarget {
  readonly stage: FaultStage;
  /** The event that it concerns; for kinds without a stream any one. */
  readonly event: TradedEvent;
  /** The connection of the event's subscription. */
  readonly connectionId: string;
  readonly random: Random;
}

/** A fault that has been caused. */
export interface CausedFault {
  /** Unix microseconds. */
  readonly at: number;
  /** A SELECT that has rows once the database shows the fault. */
  readonly evidence?: string;
  /** When `chancery status`, `doctor` or a metric showed the fault, while it was there; Unix microseconds. */
  readonly detectedAt?: number;
  /** Ends it. */
  readonly end?: () => Promise<void>;
  /** Events that it concerns, besides that of the target. */
  readonly events?: readonly TradedEvent[];
}

/** A kind of fault. */
export interface Kind {
  readonly name: string;
  /** The stream that it concerns; undefined: requests or processes. */
  readonly stream?: EventStreamName;
  /** Kinds of processes stop everything else. */
  readonly alone?: boolean;
  readonly expected: Expectation;
  readonly cause: (target: FaultTarget) => Promise<CausedFault>;
  /** Why it cannot be caused on this machine. */
  readonly unavailable?: (stage: FaultStage) => string | undefined;
}
