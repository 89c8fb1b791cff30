import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ScratchFolder, UsageError } from '../../core/index.js';
import { RecordRebuilder, TRANSFORM_VERSION } from '../../transforms/index.js';
import { exportTables } from '../export.js';
import { fileRows } from '../inspect.js';
import { Instance } from '../instance.js';
import { exportRequestSchema } from '../request.js';
import type { TableSchema } from '../statement.js';
import { isRebuildable, RECORDS } from '../tables.js';
import { type ComparedFiles, compareRebuilt } from './compare-rebuilt.js';
import { loadFiles } from './load-files.js';
import type { Manifest } from './manifest.js';
import { readRecords } from './read-records.js';

export interface RebuildOptions {
  /** Folder of a verified release. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly memoryBytes: number;
  readonly unconfined: boolean;
  readonly onFile?: (done: number, inAll: number) => void;
}

export interface Rebuilt extends ComparedFiles {
  /** Raw records with a body. */
  readonly records: number;
  /** Version of the transforms that rebuilt it. */
  readonly transformVersion: string;
  /** Tables that the raw records of a release do not have; its files were taken as they are. */
  readonly taken: readonly string[];
  /** Whether computed tables of unfinished days were left out: they depend on when they are computed. */
  readonly isUnfinished: boolean;
}

const DATABASE = 'chancery';

/**
 * Makes the tables of a release again and compares them with its files: those that come from its raw records, and those that
 * are computed from tables.
 * @throws UsageError when the release has no raw records
 */
export async function rebuildDataset(options: RebuildOptions, signal: AbortSignal): Promise<Rebuilt> {
  const { manifest } = options;
  const parts = partsOf(manifest);
  const scratch = ScratchFolder.make('chancery-rebuild-');
  try {
    const out = join(scratch.path, 'out');
    const records = await rebuildFiles(options, parts, { dataFolder: join(scratch.path, 'data'), out }, signal);
    const compared = await compareRebuilt({ ...options, ...parts, out }, signal);
    const taken = parts.taken.map(({ name }) => name);
    const isUnfinished = manifest.unfinished_days.length > 0;
    return { records, transformVersion: TRANSFORM_VERSION, taken, isUnfinished, ...compared };
  } finally {
    scratch.remove();
  }
}

interface ReleaseParts {
  /** Schema of `raw_records`. */
  readonly raw: TableSchema;
  /** Names of the tables that are made again. */
  readonly tables: readonly string[];
  readonly taken: readonly TableSchema[];
}

/** @throws UsageError when the release has no raw records */
function partsOf({ name, version, tables, files }: Manifest): ReleaseParts {
  const raw = tables.find((table) => table.name === RECORDS);
  if (!raw || !files.some(({ table }) => table === RECORDS)) {
    throw new UsageError(`${name}@${version} has no raw records, so its tables cannot be rebuilt`);
  }
  const rest = tables.filter((table) => table !== raw);
  return {
    raw,
    tables: rest.filter(isRebuildable).map((table) => table.name),
    taken: rest.filter((table) => !isRebuildable(table)),
  };
}

/** @returns the number of records */
async function rebuildFiles(
  { folder, manifest, memoryBytes, unconfined }: RebuildOptions,
  { raw, tables, taken }: ReleaseParts,
  { dataFolder, out }: { readonly dataFolder: string; readonly out: string },
  signal: AbortSignal,
): Promise<number> {
  const readable = realpathSync(folder);
  const database = DATABASE;
  const instance = await Instance.start(
    { dataFolder, readableFolders: [readable], database, memoryBytes, unconfined, fsync: false },
    signal,
  );
  try {
    const { source } = instance;
    const records = await insertRows(instance, fileRows(`${readable}/${RECORDS}/*.parquet`, raw), signal);
    await loadFiles(instance, { folder: readable, database, manifest, tables: taken }, signal);
    const request = { ...exportRequestSchema.parse(manifest.query), tables, unfinished: true };
    const positions = manifest.positions.map((position) => ({ ...position, pendingSince: null }));
    await exportTables(
      {
        ...{ source, database, folder: out, request, positions },
        // No rebuilt table has users.
        userKey: Buffer.alloc(32),
        nowMs: Date.parse(manifest.made_at),
      },
      signal,
    );
    return records;
  } finally {
    await instance.close();
  }
}

/** @returns the number of records */
async function insertRows({ connection, source }: Instance, from: string, signal: AbortSignal): Promise<number> {
  const partitions = await source.rows<{ topic: string; log: string; partition: number }>(
    `SELECT DISTINCT _topic AS topic, _log AS log, _partition AS partition FROM ${from} ORDER BY topic, log, partition`,
    signal,
  );
  let records = 0;
  for (const partition of partitions) {
    const rebuilder = new RecordRebuilder(partition);
    const flush = async () => {
      for (const block of rebuilder.finish()) {
        await connection.insert(block, { queryId: randomUUID(), settings: {}, signal });
      }
    };
    for await (const record of readRecords(source, from, partition, signal)) {
      records += 1;
      if (rebuilder.add(record)) continue;
      await flush();
      if (!rebuilder.add(record)) throw new Error(`the record at offset ${record.offset} was not taken`);
    }
    await flush();
  }
  return records;
}
