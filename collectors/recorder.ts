import type { Schedules } from './schedules.js';

export interface RecorderContext {
  readonly schedules: Schedules;
  /** ID of the topic that account records go to: the stored state of an account is valid for this topic alone. */
  readonly accountLog: string;
}

/** A component of the collector that records a part of the exchange's data. */
export interface Recorder {
  start(context: RecorderContext): Promise<void> | void;
  /** Called after the collector's signal was aborted; resolves when everything is released. */
  stop(): Promise<void>;
}
