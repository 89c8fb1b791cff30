import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, readFile, rmdir, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { packageRoot, type Settings } from '../../core/index.js';
import { formatBytes, formatDaysLeft, STORE_LESS } from '../format.js';
import { assertLayout } from '../service/instance.js';
import { FEW_DAYS } from '../status/days-left.js';
import { instanceStatus } from '../status/report.js';
import { type Check, fail, ok, warn } from './check.js';

const LOW_BYTES = 5e9;
const TOO_LOW_BYTES = 5e8;

/** Node.js, the data folder and the disk under it. */
export function machineChecks(settings: Settings): Check[] {
  const dataFolder = settings.data;
  return [
    { name: 'Node.js', run: nodeVersion },
    { name: 'data folder', run: () => dataFolderIsWritable(resolve(dataFolder)) },
    { name: 'disk space', run: () => diskSpace(resolve(dataFolder), () => daysLeftOf(settings)) },
  ];
}

async function nodeVersion() {
  const manifest = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const wanted = manifest.engines.node
    .replace(/[^\d.]/g, '')
    .split('.')
    .map(Number);
  const have = process.versions.node.split('.').map(Number);
  const newEnough = compareVersions(have, wanted) >= 0;
  return newEnough
    ? ok(`${process.version} on ${process.platform} ${process.arch}`)
    : fail(`${process.version}, but ${manifest.engines.node} is required`, 'install a newer Node.js');
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

async function dataFolderIsWritable(folder: string) {
  assertLayout(folder);
  const existing = await nearestExisting(folder);
  try {
    await rmdir(await mkdtemp(join(existing, '.chancery-doctor-')));
  } catch (error) {
    return fail(
      `${existing} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      `change its owner (chown) or choose another folder with --data`,
    );
  }
  return ok(existing === folder ? `${folder} is writable` : `${folder} does not exist yet and can be created`);
}

/** Days until the disk is full; null while nothing is recorded. */
async function daysLeftOf(settings: Settings): Promise<number | null> {
  if (!existsSync(settings.data)) return null;
  return (await instanceStatus(settings)).diskDaysLeft ?? null;
}

/** @param daysLeft days until the disk is full at the present rate */
export async function diskSpace(folder: string, daysLeft: () => Promise<number | null>) {
  const { bavail, bsize } = await statfs(await nearestExisting(folder));
  const free = bavail * bsize;
  const days = await daysLeft();
  const found = `${formatBytes(free)} free${days === null ? '' : `, ${formatDaysLeft(days)}`}`;
  if (free < TOO_LOW_BYTES) return fail(found, STORE_LESS);
  return free < LOW_BYTES || (days !== null && days < FEW_DAYS) ? warn(found, STORE_LESS) : ok(found);
}

async function nearestExisting(folder: string): Promise<string> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await access(path, constants.F_OK);
      return path;
    } catch (error) {
      if (path === dirname(path)) throw error;
    }
  }
}
