import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeError,
  isAlive,
  ownIdentity,
  type ProcessIdentity,
  ProcessLock,
  removeDrafts,
  UsageError,
  writeFileAtomicSync,
} from '../../core/index.js';
import { instancePaths } from './instance.js';

/** The long-running services, each a process, alone or under `chancery up`. */
export const SERVICES = ['up', 'exchange', 'clickhouse', 'collect', 'transform', 'view'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The entry of a running service for `status` and `doctor`: a file in DATA/run/, without secrets. */
export interface RunningService {
  readonly service: ServiceName;
  readonly pid: number;
  readonly process: ProcessIdentity;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Base URL of /healthz and /metrics. */
  readonly health?: string;
  /** The address that other services connect to, if there is one. */
  readonly address?: string;
  /** Native protocol port of ClickHouse, if it is on. */
  readonly tcpPort?: number;
}

export type Announcement = Pick<RunningService, 'health' | 'address' | 'tcpPort'>;

/**
 * Adds the entry of a running service to its data folder; `end` removes it.
 * @throws UsageError when only one is allowed (`alone`) and another process runs this service on the data folder
 */
export function announce(
  dataFolder: string,
  service: ServiceName,
  about: Announcement = {},
  options: { alone?: boolean } = {},
): { update(about: Announcement): void; end(): void } {
  const folder = instancePaths(dataFolder).run;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeLeftovers(dataFolder);
  const path = join(folder, `${service}-${process.pid}.json`);
  const startedAt = new Date().toISOString();
  const identity = ownIdentity();
  const update = (details: Announcement) => {
    const entry: RunningService = { service, pid: process.pid, process: identity, startedAt, ...details };
    writing(path, () => writeFileAtomicSync(path, `${JSON.stringify(entry)}\n`));
  };
  const lock = options.alone ? lockService(join(folder, `${service}.lock`), service, dataFolder) : undefined;
  try {
    update(about);
  } catch (error) {
    lock?.release();
    throw error;
  }
  return {
    update,
    end() {
      rmSync(path, { force: true });
      lock?.release();
      removeLeftovers(dataFolder);
    },
  };
}

function lockService(path: string, service: ServiceName, dataFolder: string): ProcessLock {
  return writing(path, () =>
    ProcessLock.acquire(
      path,
      (holder) =>
        `chancery ${service} already runs on ${dataFolder} (${holder}); ` +
        'stop it first, or choose another folder with --data',
    ),
  );
}

function writing<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new Error(`cannot write ${path}: ${describeError(error)}`, { cause: error });
  }
}

/** The services that are running on this data folder. Removes entries of ended processes. */
export function runningServices(dataFolder: string): RunningService[] {
  const found: RunningService[] = [];
  for (const path of entriesIn(instancePaths(dataFolder).run)) {
    const entry = readEntry(path);
    if (entry !== undefined && isAlive(entry.process)) found.push(entry);
    else rmSync(path, { force: true });
  }
  return found.sort((a, b) => SERVICES.indexOf(a.service) - SERVICES.indexOf(b.service) || a.pid - b.pid);
}

/** Removes entries and temporary files of killed processes. */
function removeLeftovers(dataFolder: string): void {
  runningServices(dataFolder);
  removeDrafts(instancePaths(dataFolder).run);
}

function entriesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readEntry(path: string): RunningService | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RunningService;
  } catch {
    return undefined;
  }
}
