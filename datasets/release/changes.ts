import { UsageError } from '../../core/index.js';
import type { Manifest, ManifestFile } from './manifest.js';
import { readManifest } from './read-manifest.js';

/** The files of two manifests that are not the same. */
export interface FileChanges {
  readonly added: readonly ManifestFile[];
  readonly removed: readonly ManifestFile[];
  /** Those with other rows or columns, as they were and as they are. */
  readonly changed: readonly (readonly [ManifestFile, ManifestFile])[];
  /** Those with the same rows and columns, as they were and as they are. */
  readonly equal: readonly (readonly [ManifestFile, ManifestFile])[];
}

export function fileChanges(older: readonly ManifestFile[], newer: readonly ManifestFile[]): FileChanges {
  const before = new Map(older.map((file) => [file.path, file]));
  const now = new Set(newer.map(({ path }) => path));
  const common = newer.flatMap((file) => {
    const own = before.get(file.path);
    return own ? [[own, file] as const] : [];
  });
  const isEqual = ([a, b]: readonly [ManifestFile, ManifestFile]) =>
    a.content_sha256 === b.content_sha256 && a.schema_sha256 === b.schema_sha256;
  return {
    added: newer.filter(({ path }) => !before.has(path)),
    removed: older.filter(({ path }) => !now.has(path)),
    changed: common.filter((pair) => !isEqual(pair)),
    equal: common.filter(isEqual),
  };
}

/** What a manifest says about the files that are not as in an earlier version. */
export function changesSince(
  { version, manifest_sha256, files: older }: Manifest,
  files: readonly ManifestFile[],
): NonNullable<Manifest['changes']> {
  const { added, removed, changed } = fileChanges(older, files);
  const paths = (some: readonly ManifestFile[]) => some.map(({ path }) => path).sort();
  const since = { version, manifest_sha256 };
  return { since, added: paths(added), removed: paths(removed), changed: paths(changed.map(([, file]) => file)) };
}

/**
 * The manifest of an earlier version of a release.
 * @throws UsageError when it is of another release, or of the same version
 */
export function readPrevious(folder: string, release: { readonly name: string; readonly version: string }): Manifest {
  const manifest = readManifest(folder);
  if (manifest.name === release.name && manifest.version !== release.version) return manifest;
  throw new UsageError(
    `${folder} has ${manifest.name}@${manifest.version}, which is not an earlier version of ${release.name}@${release.version}`,
  );
}
