import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/index.js';
import { makeEnvironment, python, whyNoPython } from '../../test/support/python.js';
import type { BenchFigure } from '../bench.js';

interface WrittenAgain {
  readonly version: string;
  readonly seconds: number;
  readonly bytes: number;
  /** Files with other bytes when one thread writes them. */
  readonly different: number;
  /** Bytes per column. */
  readonly columns: Readonly<Record<string, number>>;
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
    process.stdout.write(`  DuckDB's writer is not measured: ${reason.why}\n`);
    return;
  }
  await makeEnvironment();
  const { folder, ticks, seconds } = exported;
  mkdirSync(out);
  const files = readdirSync(folder).map((name) => join(folder, name));
  const program = join(packageRoot(), 'bench/datasets/delta_encoding.py');
  const written = JSON.parse(await python([program, out, ...files])) as WrittenAgain;
  const name = `written again by DuckDB ${written.version} with delta encodings`;
  yield { name: `price_ticks, ${name}`, value: round(written.bytes / ticks, 2), unit: 'bytes/tick' };
  const columns = Object.entries(written.columns).toSorted((a, b) => b[1] - a[1]);
  for (const [column, bytes] of columns) {
    yield { name: `price_ticks, column ${column}, ${name}`, value: round(bytes / ticks, 2), unit: 'bytes/tick' };
  }
  yield { name: `${name}, alone`, value: round(ticks / written.seconds), unit: 'rows/s' };
  yield { name: `${name}, behind the export`, value: round(ticks / (seconds + written.seconds)), unit: 'rows/s' };
  yield { name: `${name}, peak memory`, value: round(written.peak_bytes / 1e6), unit: 'MB' };
  yield { name: `${name}, files with other bytes by one thread`, value: written.different, unit: 'files' };
}
