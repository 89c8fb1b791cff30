import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot, UsageError } from '../../core/index.js';
import { type ReleaseOptions, readPrevious } from '../../datasets/index.js';
import { TRANSFORM_VERSION } from '../../transforms/index.js';
import type { ExportArguments } from './arguments.js';

/**
 * What a release says about itself; undefined without `--release`.
 * @param exchangeFolder folder of a simulated exchange that `up` runs
 * @throws UsageError for options that do not go together
 */
export function releaseOptions(options: ExportArguments, exchangeFolder: string): ReleaseOptions | undefined {
  const { release, format, accounts, includePrivate = false } = options;
  if (!release) {
    if (options.previous !== undefined) throw new UsageError('--previous needs --release');
    return undefined;
  }
  if (format !== 'parquet') throw new UsageError('a release has Parquet files: --release needs --format parquet');
  if (accounts && !includePrivate) {
    throw new UsageError('--accounts would publish private records: a release with them needs --include-private');
  }
  return {
    ...release,
    title: options.title ?? null,
    license: options.license ?? null,
    creator: options.creator ?? null,
    sourceUrl: options.sourceUrl ?? null,
    simulated: options.simulated === true || existsSync(exchangeFolder),
    includePrivate: accounts !== undefined,
    commit: commitOf(packageRoot()),
    transformVersion: TRANSFORM_VERSION,
    previous: options.previous === undefined ? null : readPrevious(resolve(options.previous), release),
  };
}

/** The commit of a clone's source; null for an installed package. */
function commitOf(root: string): string | null {
  if (!existsSync(join(root, '.git'))) return null;
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: [...stdio] }).trim();
  } catch {
    return null;
  }
}
