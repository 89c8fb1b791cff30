import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { processSignal, type Settings, systemClock, UsageError } from '../../core/index.js';
import { diffDatasets, rebuildDataset, type Verified, verifyDataset } from '../../datasets/index.js';
import { diffLines, isRebuilt, rebuiltLines, verifiedLines } from '../dataset/report.js';
import { EXIT } from '../errors.js';
import { ProgressView } from '../export/progress.js';
import { settingsOf } from '../settings.js';

interface Flags {
  readonly checksumsOnly?: boolean;
  readonly manifestSha256?: string;
}

type Action = 'verify' | 'rebuild' | 'diff';

const EXAMPLES = `
Actions:
  verify    compare a release with its manifest, and its tables with each other
  rebuild   rebuild the tables from the release's raw records, and compare them with those of the release
  diff      list the differences between two releases

Examples:
  chancery dataset verify rain
  chancery dataset verify rain --checksums-only
  chancery dataset rebuild rain
  chancery dataset diff rain-1 rain-2

Exit code 1: verify found damage, rebuild found differences that missing records do not explain, or diff found
different content.
`;

/** `chancery dataset`: checks and compares releases. */
export function define(command: Command): void {
  command
    .addArgument(new Argument('<ACTION>', 'what to do').choices(['verify', 'rebuild', 'diff'] satisfies Action[]))
    .argument('<DIR>', 'folder of a release')
    .argument('[OTHER]', 'folder of another release, for diff')
    .option('--checksums-only', 'verify: compare only the checksums of the files, and do not read their rows')
    .option('--manifest-sha256 <HEX>', 'verify: accept only the release whose manifest has this SHA-256', sha256)
    .addHelpText('after', EXAMPLES.trimEnd())
    .action((action: Action, folder: string, other: string | undefined, flags: Flags) => {
      const { settings } = settingsOf(command);
      return run(action, [folder, ...(other === undefined ? [] : [other])], flags, settings);
    });
}

async function run(action: Action, folders: readonly string[], flags: Flags, settings: Settings): Promise<void> {
  const [folder = '', other] = folders.map((path) => resolve(path));
  if (action !== 'verify' && (flags.checksumsOnly || flags.manifestSha256 !== undefined)) {
    throw new UsageError('--checksums-only and --manifest-sha256 are options of `dataset verify`');
  }
  if (action === 'diff') return diff(folder, other, settings);
  if (other !== undefined) throw new UsageError(`\`dataset ${action}\` takes one folder`);
  const { checksumsOnly = false, manifestSha256 } = flags;
  const verified = await verify(
    folder,
    { checksumsOnly: checksumsOnly || action === 'rebuild', manifestSha256 },
    settings,
  );
  if (action === 'verify' || verified.damages.length > 0) print(verifiedLines(verified, checksumsOnly));
  if (verified.damages.length > 0) process.exitCode = EXIT.failed;
  else if (action === 'rebuild') await rebuild(folder, verified, settings);
}

function verify(
  folder: string,
  options: { readonly checksumsOnly: boolean; readonly manifestSha256: string | undefined },
  { clickhouseUnconfined: unconfined }: Settings,
): Promise<Verified> {
  return verifyDataset({ folder, ...options, unconfined, onFile: progress() }, processSignal());
}

async function rebuild(folder: string, { manifest }: Verified, settings: Settings): Promise<void> {
  const { clickhouseMemory: memoryBytes, clickhouseUnconfined: unconfined } = settings;
  const options = { folder, manifest, memoryBytes, unconfined, onFile: progress() };
  const rebuilt = await rebuildDataset(options, processSignal());
  print(rebuiltLines(manifest, rebuilt));
  if (!isRebuilt(rebuilt)) process.exitCode = EXIT.failed;
}

async function diff(folder: string, other: string | undefined, settings: Settings): Promise<void> {
  if (other === undefined) throw new UsageError('`dataset diff` takes two folders');
  const options = { folders: [folder, other] as const, unconfined: settings.clickhouseUnconfined, onFile: progress() };
  const { lines, isEqual } = diffLines(await diffDatasets(options, processSignal()));
  print(lines);
  if (!isEqual) process.exitCode = EXIT.failed;
}

function progress(): (done: number, inAll: number) => void {
  const view = new ProgressView(process.stderr, () => systemClock.nowMs());
  return (done, inAll) => view.showChecked(done, inAll);
}

const print = (lines: readonly string[]): boolean => process.stdout.write(`${lines.join('\n')}\n`);

function sha256(value: string): string {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
  throw new InvalidArgumentError('it must be 64 hexadecimal digits');
}
