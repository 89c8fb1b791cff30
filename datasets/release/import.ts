import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, syncFolder, UsageError } from '../../core/index.js';
import { Instance } from '../instance.js';
import { isRecorded } from '../tables.js';
import { loadFiles } from './load-files.js';
import type { Manifest } from './manifest.js';

export interface ImportOptions {
  /** Folder of a verified release. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Data folder of the instance; it must not exist, or be empty. */
  readonly dataFolder: string;
  readonly database: string;
  readonly memoryBytes: number;
  readonly unconfined: boolean;
  /** Marks a new data folder as one of this version. */
  readonly claimLayout: (dataFolder: string) => void;
  readonly onFile?: (done: number, inAll: number) => void;
}

/** Where an import is built; it becomes the data folder when it is complete. */
const draftOf = (dataFolder: string): string => `${dataFolder}.import`;

/** @throws UsageError unless the data folder is new or empty */
export function assertEmptyInstance(dataFolder: string): void {
  if (!existsSync(dataFolder) || readdirSync(dataFolder).length === 0) return;
  throw new UsageError(
    `${dataFolder} is not empty; a dataset is imported into a new data folder: choose another with --data`,
  );
}

/**
 * Makes an instance of the recorded tables of a release. It is built beside the data folder, which appears at once when it
 * is complete: an import that was killed leaves no instance, and the next one begins again.
 * @returns the number of rows
 */
export async function importDataset(options: ImportOptions, signal: AbortSignal): Promise<number> {
  const { dataFolder, claimLayout } = options;
  assertEmptyInstance(dataFolder);
  const draft = draftOf(dataFolder);
  rmSync(draft, { recursive: true, force: true });
  makeFolder(draft, { option: '--data', mode: 0o700 });
  claimLayout(draft);
  const rows = await fill(draft, options, signal);
  if (existsSync(dataFolder)) rmSync(dataFolder, { recursive: true });
  renameSync(draft, dataFolder);
  await syncFolder(dirname(dataFolder));
  return rows;
}

/** Loads the files into the embedded ClickHouse of a new data folder. */
async function fill(draft: string, options: ImportOptions, signal: AbortSignal): Promise<number> {
  const { folder, manifest, database, memoryBytes, unconfined, onFile } = options;
  const readable = realpathSync(folder);
  const instance = await Instance.start(
    { dataFolder: draft, readableFolders: [readable], database, memoryBytes, unconfined, fsync: true },
    signal,
  );
  try {
    const tables = manifest.tables.filter(isRecorded);
    return await loadFiles(instance, { folder: readable, database, manifest, tables, onFile }, signal);
  } finally {
    await instance.close();
  }
}
