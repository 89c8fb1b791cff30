import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion, sha256Hex, UsageError, writeFileAtomic } from '../../core/index.js';
import { FileServer } from '../file-server.js';
import { FileInspector, schemaHash } from '../inspect.js';
import type { Plan } from '../plan.js';
import { STATE_FILE } from '../state.js';
import { card } from './card.js';
import { changesSince } from './changes.js';
import { checksumLines, sha256OfFile } from './checksums.js';
import { citation } from './citation.js';
import { columnChunksCrc32 } from './column-chunks.js';
import { croissant } from './croissant.js';
import { dataPackage } from './data-package.js';
import { type Figures, figuresOf } from './figures.js';
import { inParallel } from './in-parallel.js';
import { CHECKSUMS_FILE, MANIFEST_FILE, type Manifest, type ManifestFile, manifestText } from './manifest.js';
import { notRebuildable } from './not-rebuildable.js';

/** What the publisher of a release says about it. */
export interface ReleaseOptions {
  readonly name: string;
  readonly version: string;
  readonly title: string | null;
  readonly license: string | null;
  readonly creator: string | null;
  readonly sourceUrl: string | null;
  readonly simulated: boolean;
  readonly includePrivate: boolean;
  readonly commit: string | null;
  readonly transformVersion: string;
  /** The manifest of an earlier version. */
  readonly previous: Manifest | null;
}

export interface ReleaseParts {
  readonly folder: string;
  readonly release: ReleaseOptions;
  readonly plan: Plan;
  readonly query: Readonly<Record<string, unknown>>;
  readonly unconfined: boolean;
  readonly onFile?: (done: number, inAll: number) => void;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$/;

const CONTENT_ENCODING =
  'SHA-256 over the rows in file order, each as ClickHouse RowBinary of the columns in the order and with the types of `tables`; ' +
  'DateTime64 as Int64 microseconds since 1970-01-01 UTC';

/** @throws UsageError unless the text is NAME@VERSION */
export function parseRelease(value: string): { readonly name: string; readonly version: string } {
  const [name = '', version = '', ...more] = value.split('@');
  if (NAME.test(name) && VERSION.test(version) && more.length === 0) return { name, version };
  throw new UsageError(`${value} is not NAME@VERSION, like rain-markets@1.0.0 (lower case letters, digits, . _ -)`);
}

/**
 * Removes what a kill after the last file of a release has left.
 * @throws UsageError when the folder has a complete release
 */
export function assertNoRelease(folder: string): void {
  if (!existsSync(join(folder, CHECKSUMS_FILE))) return;
  rmSync(join(folder, STATE_FILE), { force: true });
  throw new UsageError(`${folder} has a release, which is never changed; choose another folder with --out`);
}

/**
 * Makes an export a release: describes its files as they are on disk. The last file is SHA256SUMS, with which the release
 * is complete.
 * @returns the hash of the manifest
 */
export async function makeRelease(parts: ReleaseParts, signal: AbortSignal): Promise<string> {
  const { folder } = parts;
  const server = await FileServer.start(parts, signal);
  let described: Figures & Pick<Manifest, 'files'>;
  try {
    const files = await describeFiles(server, parts, signal);
    const tables = parts.plan.schemas.map(({ name }) => name);
    described = { files, ...(await figuresOf(server, tables, files, signal)) };
  } finally {
    await server.close();
  }
  const { previous } = parts.release;
  const changes = previous ? { changes: changesSince(previous, described.files) } : {};
  const { text: manifest, hash } = manifestText({ ...heading(parts), ...described, ...changes });
  const whole = JSON.parse(manifest) as Manifest;
  const documents: Record<string, string> = {
    'CITATION.cff': citation(whole),
    'README.md': card(whole),
    'croissant.json': croissant(whole),
    'datapackage.json': dataPackage(whole),
    [MANIFEST_FILE]: manifest,
  };
  for (const [path, content] of Object.entries(documents)) await writeFileAtomic(join(folder, path), content, true);
  const sums = [
    ...Object.entries(documents).map(([path, content]) => [path, sha256Hex(content)] as const),
    ...described.files.map(({ path, sha256 }) => [path, sha256] as const),
  ];
  await writeFileAtomic(join(folder, CHECKSUMS_FILE), checksumLines(sums), true);
  rmSync(join(folder, STATE_FILE));
  return hash;
}

function heading({ plan, release, query }: ReleaseParts) {
  const { name, version, title, license, creator, sourceUrl, simulated, includePrivate } = release;
  const days = (files: Plan['files']) => [...new Set(files.map(({ day }) => day))].sort();
  return {
    ...{ name, version, title, license, creator, source_url: sourceUrl, simulated, include_private: includePrivate },
    made_at: plan.madeAt,
    software: {
      ...{ name: 'chancery', version: packageVersion(), commit: release.commit },
      transform_version: release.transformVersion,
    },
    query: { ...query },
    positions: plan.positions.map(({ topic, log, partition, end }) => ({ topic, log, partition, end })),
    days: days(plan.files),
    unfinished_days: days(plan.files.filter(({ unfinished }) => unfinished)),
    content_encoding: CONTENT_ENCODING,
    tables: plan.schemas.map((schema) => ({
      ...schema,
      columns: [...schema.columns],
      sort_order: [...schema.sort_order],
      time: [...schema.time],
      rows: plan.files.filter(({ table }) => table === schema.name).reduce((sum, { rows }) => sum + rows, 0),
    })),
    not_rebuildable: notRebuildable(plan.schemas, plan.files),
  };
}

async function describeFiles(server: FileServer, parts: ReleaseParts, signal: AbortSignal): Promise<ManifestFile[]> {
  const { folder, plan, onFile } = parts;
  let done = 0;
  const tasks = plan.files.map(({ path, table, day, unfinished }) => async (): Promise<ManifestFile> => {
    const schema = plan.schemas.find(({ name }) => name === table);
    if (!schema) throw new Error(`the plan has no schema of ${table}`);
    const content = await new FileInspector(server, path, schema).content(signal);
    const described = {
      ...{ path, table, day, ...(unfinished && { unfinished }) },
      ...content,
      offsets: [...content.offsets],
      bytes: statSync(join(folder, path)).size,
      sha256: await sha256OfFile(join(folder, path), signal),
      schema_sha256: schemaHash(schema.columns),
      column_chunks_crc32: await columnChunksCrc32(server, path, signal),
    };
    done += 1;
    onFile?.(done, plan.files.length);
    return described;
  });
  return inParallel(tasks);
}
