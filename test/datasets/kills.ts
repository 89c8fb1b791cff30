import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot, type Random, sha256Hex } from '../../core/index.js';
import type { Manifest } from '../../datasets/release/manifest.js';
import { findEmbedded } from '../../warehouse/index.js';
import { runAs } from '../support/run-as.js';
import { ServiceProcess } from '../support/service-process.js';
import { removeFolder } from '../support/temporary-folder.js';

const MAIN = join(packageRoot(), 'dist/cli/main.js');
const STATE_FILE = 'export-state.json';
const CHECKSUMS_FILE = 'SHA256SUMS';
/** What says when a release was made, or has the hash of what says it. */
const DATED = ['manifest.json', 'README.md', 'CITATION.cff', 'croissant.json', 'datapackage.json', CHECKSUMS_FILE];

export interface KillOptions {
  /** Number of kills. */
  readonly kills: number;
  readonly random: Random;
  /** Folder for everything that is written. */
  readonly folder: string;
  readonly say?: (line: string) => void;
}

/** The hash of each file of a release, or of each table of an instance. */
export type Hashes = Readonly<Record<string, string>>;

export interface KillReport {
  readonly expected: Hashes;
  /** What was there whenever a command that had been killed, and repeated until its end, was complete. */
  readonly found: readonly Hashes[];
}

/** Arguments of `chancery`. Candles of one period only: most of the time of a small export is for them. */
export const exportRelease = (dataFolder: string, out: string): string[] => [
  ...['export', '--data', dataFolder, '--out', out],
  ...['--release', 'rain@1', '--candle-periods', '3600'],
];

/**
 * Exports a release of an instance, and kills the command at random moments; the same command resumes it.
 * @param dataFolder of an instance whose ClickHouse runs
 */
export async function killExports(dataFolder: string, options: KillOptions): Promise<KillReport> {
  const { folder } = options;
  const export_ = (out: string) => [...exportRelease(dataFolder, out), '--simulated'];
  const reference = join(folder, 'reference');
  const found: Hashes[] = [];
  const out = join(folder, 'killed');
  await killAndRepeat(export_(reference), export_(out), options, () => {
    if (!existsSync(join(out, CHECKSUMS_FILE))) return false;
    found.push(hashesOfFiles(out));
    removeFolder(out);
    return true;
  });
  return { expected: hashesOfFiles(reference), found };
}

/** Imports a release, and kills the command at random moments: no instance is there before it is complete. */
export async function killImports(release: string, options: KillOptions): Promise<KillReport> {
  const { folder } = options;
  const import_ = (data: string) => ['import', release, '--data', data];
  const [reference, data] = [join(folder, 'reference'), join(folder, 'killed')];
  const complete: string[] = [];
  await killAndRepeat(import_(reference), import_(data), options, () => {
    if (!existsSync(data)) return false;
    const kept = join(folder, `complete-${complete.length}`);
    renameSync(data, kept);
    complete.push(kept);
    return true;
  });
  const manifest = JSON.parse(readFileSync(join(release, 'manifest.json'), 'utf8')) as Manifest;
  const [expected = {}, ...found] = await Promise.all(
    [reference, ...complete].map((one) => hashesOfTables(one, manifest)),
  );
  return { expected, found };
}

/**
 * Runs a command once to its end; then another one, which is killed at random moments of the time that the first one took,
 * and repeated.
 * @param takeResult called when the other command has ended; whether its result is complete
 */
async function killAndRepeat(
  first: readonly string[],
  command: readonly string[],
  { kills, random, folder, say }: KillOptions,
  takeResult: () => boolean,
): Promise<void> {
  const started = performance.now();
  await run(first, folder);
  const tookMs = performance.now() - started;
  for (let killed = 0; killed < kills; ) {
    const afterMs = Math.round(random.next() * tookMs);
    if (await run(command, folder, afterMs)) {
      killed += 1;
      say?.(`kill ${killed} of ${kills}: ${command[0]}, after ${afterMs} ms`);
    }
    takeResult();
  }
  await run(command, folder);
  if (!takeResult()) throw new Error(`chancery ${command.join(' ')} has ended, and there is nothing`);
}

/** @returns whether it was killed before its end */
async function run(args: readonly string[], folder: string, killAfterMs?: number): Promise<boolean> {
  // Killed commands leave temporary folders, which the next ones remove.
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const ended = new AbortController();
  if (killAfterMs !== undefined) {
    void delay(killAfterMs, undefined, { signal: ended.signal }).then(
      () => child.kill('SIGKILL'),
      () => undefined,
    );
  }
  const [code, signal] = await exited;
  ended.abort();
  if (signal === 'SIGKILL') return true;
  if (code === 0) return false;
  throw new Error(`chancery ${args.join(' ')} ended with ${code}: ${said}`);
}

/** Of the files of the tables, and of a manifest without its time and hash. */
function hashesOfFiles(release: string): Hashes {
  const names = readdirSync(release, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  // A kill after the last file of the release leaves it.
  rmSync(join(release, STATE_FILE), { force: true });
  const files = names.filter((name) => !DATED.includes(name) && name !== STATE_FILE);
  const hashes = files.map((name) => [name, sha256Hex(readFileSync(join(release, name)))] as const);
  const { made_at, manifest_sha256, ...manifest } = JSON.parse(
    readFileSync(join(release, 'manifest.json'), 'utf8'),
  ) as Manifest;
  return Object.fromEntries([...hashes, ['manifest.json', sha256Hex(JSON.stringify(manifest))] as const].toSorted());
}

/** Of all rows of each table of a release, in the columns that it has. */
async function hashesOfTables(dataFolder: string, { tables }: Manifest): Promise<Hashes> {
  const warehouse = await ServiceProcess.start('warehouse', ['--data', dataFolder, '--clickhouse-port', '0']);
  try {
    const endpoint = await findEmbedded(dataFolder);
    if (!endpoint) throw new Error(`no ClickHouse runs on ${dataFolder}`);
    const hashes: [string, string][] = [];
    for (const { name, columns } of tables.filter(({ positions }) => positions)) {
      const values = columns.map((column) => `\`${column.name}\``).join(', ');
      const query = `SELECT concat(toString(count()), ' rows, ', toString(sum(cityHash64(${values})))) FROM chancery.${name}`;
      hashes.push([name, (await runAs(endpoint.owner, query)).trim()]);
    }
    return Object.fromEntries(hashes);
  } finally {
    await warehouse.stop();
  }
}
