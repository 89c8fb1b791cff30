import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../core/index.js';

const run = promisify(execFile);
const pom = join(packageRoot(), 'test/kafka/pom.xml');
const cache = join(packageRoot(), '.cache/kafka');

function folder(): string {
  return join(cache, createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12));
}

/** The folder of the broker's jars; they are fetched with Maven once, also when several processes ask at once. */
export async function kafkaJars(): Promise<string> {
  const jars = folder();
  if (existsSync(jars)) return jars;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'fetching-'));
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${fresh}`, '-DincludeScope=runtime'];
    await run('mvn', ['-q', '-B', '-f', pom, ...goal]);
    // Whoever is first gives the folder its name; what the others fetched is thrown away.
    await rename(fresh, jars).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(jars)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return jars;
}

/** Why no broker can be started here; undefined when one can. */
export function whyNoBroker(): string | undefined {
  if (!onPath('java')) return 'there is no Java here (17 or newer is needed)';
  if (!onPath('mvn') && !existsSync(folder())) return 'there is no Maven here to fetch the broker with';
  return undefined;
}

function onPath(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((dir) => existsSync(join(dir, command)));
}
