import type { Schedules } from './schedules.js';

export interface RecorderContext {
  readonly schedules: Schedules;
  /** Identity of the log that account records go to: what is stored of an account is valid for this log alone. */
  readonly accountLog: string;
}

/** A part of the collector that records something of the exchange. */
export interface Recorder {
  start(context: RecorderContext): Promise<void> | void;
  /** After the collector's signal was aborted: resolves when everything is released. */
  stop(): Promise<void>;
}
