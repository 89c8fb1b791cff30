import type { Settings } from '../../core/index.js';
import { flagsFor } from '../settings.js';
import { type ProcessOptions, SupervisedProcess } from './supervised-process.js';

/** The context that `up` passes to each of its processes. */
export interface ChildContext {
  /** Including the addresses that `up` chose. */
  readonly settings: Settings;
  /** File descriptor of the lock that each process inherits. */
  readonly lock: number;
  readonly onLine: (service: string, line: string) => void;
  readonly onMessage: (text: string) => void;
}

// Usually it takes a second or two; on a cold or busy machine it may take much longer.
const READY_TIMEOUT_MS = 60_000;

export function warehouseService(context: ChildContext): SupervisedProcess {
  return service(context, 'clickhouse', ['warehouse', ...flagsFor(context.settings, 'warehouse')]);
}

export function transformService(context: ChildContext): SupervisedProcess {
  return service(context, 'transform', ['transform', ...flagsFor(context.settings, 'transform')]);
}

export function collectService(context: ChildContext): SupervisedProcess {
  return service(context, 'collect', ['collect', ...flagsFor(context.settings, 'collect')]);
}

export function viewService(context: ChildContext): SupervisedProcess {
  return service(context, 'view', ['view', ...flagsFor(context.settings, 'view')]);
}

/** @param options flags of `chancery exchange` that are no settings */
export function exchangeService(context: ChildContext, options: readonly string[]): SupervisedProcess {
  return service(context, 'exchange', ['exchange', ...flagsFor(context.settings, 'exchange'), ...options]);
}

function service({ lock, onLine, onMessage }: ChildContext, name: string, args: readonly string[]): SupervisedProcess {
  const options: ProcessOptions = {
    name,
    // A given metrics port is that of `up` itself: its services use free ones.
    args: [...args, '--metrics-port', '0', '--stop-with-parent'],
    inherit: lock,
    readyTimeoutMs: READY_TIMEOUT_MS,
    onLine: (line) => onLine(name, line),
    onMessage,
  };
  return new SupervisedProcess(options);
}
