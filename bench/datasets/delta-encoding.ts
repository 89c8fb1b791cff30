import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/index.js';
import { makeEnvironment, python, whyNoPython } from '../../test/support/python.js';
import type { BenchFigure } from '../bench.js';

interface WrittenAgain {
  readonly version: string;
  readonly seconds: number;
  readonly bytes: number;
  /** SHA-256 of each file. */
  readonly digests: readonly string[];
  /** Bytes per column. */
  readonly columns: Readonly<Record<string, number>>;
  /** Number of columns that are declared as never NULL in the files, and not in those that were written. */
  readonly no_longer_required: number;
  readonly peak_bytes: number;
}

interface Exported {
  /** With the files of ticks. */
  readonly folder: string;
  readonly ticks: number;
  /** How long the export took. */
  readonly seconds: number;
}

const round = (value: number, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits;

/**
 * What another writer would make of the files: that of ClickHouse has no delta encoding. Nothing where Python or DuckDB cannot
 * be had.
 */
export async function* measureDeltaEncoding(exported: Exported, out: string): AsyncGenerator<BenchFigure> {
  const reason = whyNoPython();
  if (reason) {
    process.stdout.write(`  DuckDB's writer is not measured: ${reason}\n`);
    return;
  }
  await makeEnvironment();
  const { folder, ticks, seconds } = exported;
  mkdirSync(out);
  const files = readdirSync(folder).map((name) => join(folder, name));
  const program = join(packageRoot(), 'bench/datasets/delta_encoding.py');
  const write = async (threads: number) =>
    JSON.parse(await python([program, out, String(threads), ...files])) as WrittenAgain;
  const written = await write(2);
  const alone = await write(1);
  const name = `written again by DuckDB ${written.version} with delta encodings`;
  yield { name: `price_ticks, ${name}`, value: round(written.bytes / ticks, 2), unit: 'bytes/tick' };
  const columns = Object.entries(written.columns).toSorted((a, b) => b[1] - a[1]);
  for (const [column, bytes] of columns) {
    yield { name: `price_ticks, column ${column}, ${name}`, value: round(bytes / ticks, 2), unit: 'bytes/tick' };
  }
  for (const [threads, { seconds: more, peak_bytes: peak }] of [
    ['two threads', written],
    ['one thread', alone],
  ] as const) {
    yield { name: `${name}, ${threads}`, value: round(ticks / more), unit: 'rows/s' };
    yield { name: `${name}, ${threads}, behind the export`, value: round(ticks / (seconds + more)), unit: 'rows/s' };
    yield { name: `${name}, ${threads}, peak memory`, value: round(peak / 1e6), unit: 'MB' };
  }
  const different = written.digests.filter((digest, number) => digest !== alone.digests[number]).length;
  yield { name: `${name}, files with other bytes by one thread`, value: different, unit: 'files' };
  yield {
    name: `${name}, columns that are no longer declared as never NULL`,
    value: written.no_longer_required,
    unit: 'columns',
  };
}
