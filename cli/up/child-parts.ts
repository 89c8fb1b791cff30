import type { Settings } from '../../core/index.js';
import { flagsFor } from '../settings.js';
import { type ProcessOptions, SupervisedProcess } from './supervised-process.js';

/** What `up` gives to each of its processes. */
export interface ChildContext {
  /** With the addresses that `up` chose. */
  readonly settings: Settings;
  readonly onLine: (part: string, line: string) => void;
  readonly onMessage: (text: string) => void;
}

// A warm machine needs a second or two; a cold or busy one may need much longer, and waiting costs nothing.
const READY_TIMEOUT_MS = 60_000;

export function warehousePart(context: ChildContext): SupervisedProcess {
  return part(context, 'clickhouse', ['warehouse', ...flagsFor(context.settings, 'warehouse')]);
}

export function transformPart(context: ChildContext): SupervisedProcess {
  return part(context, 'transform', ['transform', ...flagsFor(context.settings, 'transform')]);
}

export function collectPart(context: ChildContext): SupervisedProcess {
  return part(context, 'collect', ['collect', ...flagsFor(context.settings, 'collect')]);
}

/** @param options flags of `chancery exchange` */
export function exchangePart(context: ChildContext, options: readonly string[]): SupervisedProcess {
  return part(context, 'exchange', ['exchange', ...options]);
}

function part({ onLine, onMessage }: ChildContext, name: string, args: readonly string[]): SupervisedProcess {
  const options: ProcessOptions = {
    name,
    // A port that was given for the metrics is that of `up` itself: its parts take free ones.
    args: [...args, '--metrics-port', '0', '--stop-with-parent'],
    readyTimeoutMs: READY_TIMEOUT_MS,
    onLine: (line) => onLine(name, line),
    onMessage,
  };
  return new SupervisedProcess(options);
}
