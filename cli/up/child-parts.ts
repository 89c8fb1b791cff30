import type { Settings } from '../../core/index.js';
import { flagsFor } from '../settings.js';
import { COLLECT, TRANSFORM, WAREHOUSE } from '../settings-by-command.js';
import { type ProcessOptions, SupervisedProcess } from './supervised-process.js';

/** What `up` gives to each of its processes. */
export interface ChildContext {
  /** With the addresses that `up` chose. */
  readonly settings: Settings;
  readonly onLine: (part: string, line: string) => void;
  readonly onNews: (text: string) => void;
}

// A warm machine needs a second or two; a cold or busy one may need much longer, and waiting costs nothing.
const READY_TIMEOUT_MS = 60_000;

// What an orderly end may take, milliseconds: collector, worker, then the two others together, 5 s in all. Who takes
// longer is killed, which loses nothing that was acknowledged.
export function warehousePart(context: ChildContext): SupervisedProcess {
  return part(context, 'clickhouse', ['warehouse', ...flagsFor(context.settings, WAREHOUSE)], 1600);
}

export function transformPart(context: ChildContext): SupervisedProcess {
  return part(context, 'transform', ['transform', ...flagsFor(context.settings, TRANSFORM)], 1600);
}

export function collectPart(context: ChildContext): SupervisedProcess {
  return part(context, 'collect', ['collect', ...flagsFor(context.settings, COLLECT)], 1800);
}

/** @param options flags of `chancery exchange` */
export function exchangePart(context: ChildContext, options: readonly string[]): SupervisedProcess {
  return part(context, 'exchange', ['exchange', ...options], 1600);
}

function part(
  { onLine, onNews }: ChildContext,
  name: string,
  args: readonly string[],
  stopTimeoutMs: number,
): SupervisedProcess {
  const options: ProcessOptions = {
    name,
    args: [...args, '--stop-with-parent'],
    readyTimeoutMs: READY_TIMEOUT_MS,
    stopTimeoutMs,
    onLine: (line) => onLine(name, line),
    onNews,
  };
  return new SupervisedProcess(options);
}
