import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../core/index.js';

const run = promisify(execFile);

/** The jars of a pom.xml, fetched once with Maven into a folder below `.cache`. */
export class MavenJars {
  readonly #pom: string;
  readonly #cache: string;

  /** @param name folder below `test`, with the pom.xml, and below `.cache` */
  constructor(private readonly name: string) {
    this.#pom = join(packageRoot(), 'test', name, 'pom.xml');
    this.#cache = join(packageRoot(), '.cache', name);
  }

  /** The folder of the jars; they are fetched once, also when several processes call at the same time. */
  async fetch(): Promise<string> {
    const jars = this.#folder();
    if (existsSync(jars)) return jars;
    await mkdir(this.#cache, { recursive: true });
    const fresh = await mkdtemp(join(this.#cache, 'fetching-'));
    try {
      const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${fresh}`, '-DincludeScope=runtime'];
      await run('mvn', ['-q', '-B', '-f', this.#pom, ...goal]);
      // The first process renames its folder; the others delete theirs.
      await rename(fresh, jars).catch((error: NodeJS.ErrnoException) => {
        if (!existsSync(jars)) throw error;
      });
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
    return jars;
  }

  /** Why they cannot be used here; undefined when they can. */
  get whyNot(): string | undefined {
    if (!onPath('java')) return 'there is no Java here (17 or newer is needed)';
    if (!onPath('mvn') && !existsSync(this.#folder())) return `there is no Maven here to fetch ${this.name} with`;
    return undefined;
  }

  #folder(): string {
    return join(this.#cache, createHash('sha256').update(readFileSync(this.#pom)).digest('hex').slice(0, 12));
  }
}

function onPath(command: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((dir) => existsSync(join(dir, command)));
}
