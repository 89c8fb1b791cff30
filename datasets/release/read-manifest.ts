import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChanceryError, describeError, sha256Hex, UsageError } from '../../core/index.js';
import { FORMAT_VERSION, MANIFEST_FILE, type Manifest, manifestSchema, PLACEHOLDER } from './manifest.js';

/** A dataset is not what its manifest says, or has no readable manifest. */
class DamagedDatasetError extends ChanceryError {
  readonly retryable = false;
}

/**
 * Reads the manifest of a dataset, and checks its hash of itself.
 * @throws UsageError when the folder has none; DamagedDatasetError when it is damaged or of a newer version
 */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE);
  if (!existsSync(path)) {
    throw new UsageError(
      `${folder} has no ${MANIFEST_FILE}: it is not a release, which \`chancery export --release\` makes`,
    );
  }
  const content = readFileSync(path, 'utf8');
  const manifest = parse(path, content);
  const own = sha256Hex(content.replace(manifest.manifest_sha256, PLACEHOLDER));
  if (own === manifest.manifest_sha256) return manifest;
  throw new DamagedDatasetError(`${path} was changed: its hash is ${own}, and it says ${manifest.manifest_sha256}`);
}

function parse(path: string, content: string): Manifest {
  let json: { format_version?: unknown };
  try {
    json = JSON.parse(content) as typeof json;
  } catch (error) {
    throw new DamagedDatasetError(`${path} is damaged: ${describeError(error)}`, { cause: error });
  }
  if (typeof json.format_version === 'number' && json.format_version > FORMAT_VERSION) {
    throw new UsageError(
      `${path} has format_version ${json.format_version}, and this version of Chancery reads up to ${FORMAT_VERSION}`,
    );
  }
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DamagedDatasetError(`${path} is damaged: ${issue?.path.join('.')}: ${issue?.message}`);
}
