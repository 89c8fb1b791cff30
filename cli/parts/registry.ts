import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, isAlive, ownIdentity, type ProcessIdentity, UsageError } from '../../core/index.js';
import { instancePaths } from './instance.js';

/** The parts that run for long, each alone in a process or under `chancery up`. */
export const PARTS = ['up', 'exchange', 'clickhouse', 'collect', 'transform'] as const;
export type PartName = (typeof PARTS)[number];

/** What a running part tells about itself to `status`, `sql` and `doctor`, in DATA/run/. Holds no secret. */
export interface RunningPart {
  readonly part: PartName;
  readonly pid: number;
  readonly process: ProcessIdentity;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Base URL of /healthz and /metrics. */
  readonly health?: string;
  /** What other parts connect to, if anything does. */
  readonly address?: string;
  /** Native protocol port of ClickHouse, when it is open. */
  readonly tcpPort?: number;
}

export type Announcement = Pick<RunningPart, 'health' | 'address' | 'tcpPort'>;

/**
 * Makes a running part known in its data folder until `end` is called.
 * @throws UsageError when it must be `alone` and another process already runs this part on the folder
 */
export function announce(
  dataFolder: string,
  part: PartName,
  about: Announcement = {},
  options: { alone?: boolean } = {},
): { update(about: Announcement): void; end(): void } {
  const folder = instancePaths(dataFolder).run;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeDead(dataFolder);
  const path = join(folder, options.alone ? `${part}.json` : `${part}-${process.pid}.json`);
  const draft = `${path}.${process.pid}.tmp`;
  const startedAt = new Date().toISOString();
  const identity = ownIdentity();
  const write = (details: Announcement) => {
    const entry: RunningPart = { part, pid: process.pid, process: identity, startedAt, ...details };
    try {
      writeFileSync(draft, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    } catch (error) {
      rmSync(draft, { force: true });
      throw new Error(`cannot write ${path}: ${describeError(error)}`, { cause: error });
    }
  };
  write(about);
  if (options.alone) claim(draft, path, dataFolder);
  else renameSync(draft, path);
  return {
    update(details) {
      write(details);
      renameSync(draft, path);
    },
    end() {
      rmSync(path, { force: true });
      removeDead(dataFolder);
    },
  };
}

/** The parts that run on this data folder now. Files of processes that are gone are removed. */
export function runningParts(dataFolder: string): RunningPart[] {
  const found: RunningPart[] = [];
  for (const path of filesIn(instancePaths(dataFolder).run)) {
    const entry = readEntry(path);
    if (entry !== undefined && isAlive(entry.process)) found.push(entry);
    else rmSync(path, { force: true });
  }
  return found.sort((a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part) || a.pid - b.pid);
}

/** Removes what killed processes left: their entries, and drafts that were never put in place. */
function removeDead(dataFolder: string): void {
  runningParts(dataFolder);
  for (const path of filesIn(instancePaths(dataFolder).run, '.tmp')) {
    // A full disk may have cut it short; the name holds the process number too.
    const pid = Number(/\.(\d+)\.tmp$/.exec(path)?.[1]);
    if (pid === process.pid) continue;
    const writer = readEntry(path)?.process ?? { ...ownIdentity(), pid, start: null };
    if (!isAlive(writer)) rmSync(path, { force: true });
  }
}

/** Puts the draft in place if nobody living holds the place; a link, unlike a rename, never replaces. */
function claim(draft: string, path: string, dataFolder: string): void {
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        linkSync(draft, path);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error;
      }
      const holder = readEntry(path);
      if (holder !== undefined && isAlive(holder.process)) {
        throw new UsageError(
          `chancery ${holder.part} already runs on ${dataFolder} (process ${holder.pid}); ` +
            'stop it first, or choose another folder with --data',
        );
      }
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function filesIn(folder: string, ending = '.json'): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readEntry(path: string): RunningPart | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RunningPart;
  } catch {
    return undefined;
  }
}
