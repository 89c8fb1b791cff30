import { FileServer } from '../file-server.js';
import { fileChanges } from './changes.js';
import { type MoreRows, rowsOnlyIn } from './compare-rows.js';
import type { Manifest, ManifestFile } from './manifest.js';
import { readManifest } from './read-manifest.js';

export interface DiffOptions {
  readonly folders: readonly [string, string];
  readonly unconfined: boolean;
  readonly onFile?: (done: number, inAll: number) => void;
}

/** A file that both releases have, with different rows or columns. */
export interface ChangedFile {
  readonly path: string;
  readonly rows: readonly [number, number];
  /** Names and types of columns that only one of them has. */
  readonly columns: readonly [readonly string[], readonly string[]];
  /** Rows that only one of them has; undefined when the columns differ. */
  readonly onlyIn: readonly [MoreRows, MoreRows] | undefined;
}

export interface Difference {
  readonly manifests: readonly [Manifest, Manifest];
  /** Paths of the files that only one of them has. */
  readonly files: readonly [readonly string[], readonly string[]];
  readonly changed: readonly ChangedFile[];
  /** Number of files with the same content, and those of them with other bytes. */
  readonly equal: number;
  readonly otherBytes: number;
}

/**
 * Compares two releases by their manifests, and the rows of the files whose content is not the same.
 * @throws UsageError when a folder is no release
 */
export async function diffDatasets(options: DiffOptions, signal: AbortSignal): Promise<Difference> {
  const [left, right] = options.folders;
  const manifests = [readManifest(left), readManifest(right)] as const;
  const { added, removed, changed, equal } = fileChanges(manifests[0].files, manifests[1].files);
  const paths = (files: readonly ManifestFile[]) => files.map(({ path }) => path);
  return {
    manifests,
    files: [paths(removed), paths(added)],
    changed: changed.length === 0 ? [] : await compareFiles(options, manifests, changed, signal),
    equal: equal.length,
    otherBytes: equal.filter(([a, b]) => a.sha256 !== b.sha256).length,
  };
}

async function compareFiles(
  { folders, unconfined, onFile }: DiffOptions,
  manifests: readonly [Manifest, Manifest],
  pairs: readonly (readonly [ManifestFile, ManifestFile])[],
  signal: AbortSignal,
): Promise<ChangedFile[]> {
  const server = await FileServer.start({ folder: folders[0], moreFolders: [folders[1]], unconfined }, signal);
  const changed: ChangedFile[] = [];
  try {
    for (const [a, b] of pairs) {
      const schemas = manifests.map(({ tables }) => tables.find(({ name }) => name === a.table));
      const columns = schemas.map((schema) => schema?.columns.map(({ name, type }) => `${name} ${type}`) ?? []);
      const [mine = [], theirs = []] = columns;
      const [schema] = schemas;
      const paths = server.folders.map((folder) => `${folder}/${a.path}`) as [string, string];
      const isComparable = schema !== undefined && mine.join() === theirs.join();
      changed.push({
        path: a.path,
        rows: [a.rows, b.rows],
        columns: [mine.filter((column) => !theirs.includes(column)), theirs.filter((column) => !mine.includes(column))],
        onlyIn: isComparable
          ? [
              await rowsOnlyIn(server, schema, paths, signal),
              await rowsOnlyIn(server, schema, [paths[1], paths[0]], signal),
            ]
          : undefined,
      });
      onFile?.(changed.length, pairs.length);
    }
  } finally {
    await server.close();
  }
  return changed;
}
