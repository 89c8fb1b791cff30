import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileServer } from '../../datasets/file-server.js';
import { ROWS } from '../../datasets/formats.js';
import { readManifest } from '../../datasets/release/read-manifest.js';
import { text } from '../../datasets/sql-text.js';
import { ServiceProcess } from '../../test/support/service-process.js';
import { removeFolder, temporaryFolder } from '../../test/support/temporary-folder.js';
import { findEmbedded } from '../../warehouse/index.js';
import type { BenchFigure } from '../bench.js';
import { machine } from '../measure.js';
import { peakBytes, resetPeak } from '../process-usage.js';
import { type Result, show, writeResults } from '../results.js';
import { runCommand } from './command.js';
import { buildDataSet, type DataSet } from './data-set.js';
import { DATASETS_ABOUT, DATASETS_BENCH, FULL_DATASET_TICKS } from './description.js';
import { EVENTS, MARKETS_PER_EVENT, SEED } from './rows.js';

const round = (value: number, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits;
const megabytes = (bytes: number) => round(bytes / 1e6);

/** Prints the figures and writes them to bench/results/, when the number of ticks is that of published results. */
export async function benchDatasets(ticks: number, signal: AbortSignal): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  print(`\n${DATASETS_BENCH}: ${DATASETS_ABOUT}`);
  if (!existsSync('/proc/self/status')) return print('  skipped: it needs /proc for peaks of memory');
  const dataSet = await buildDataSet(ticks, print);
  const results: Result[] = [];
  const folder = temporaryFolder();
  try {
    for await (const { name, value, unit } of measureAll(dataSet, folder, signal)) {
      print(`  ${name.padEnd(60)}${show(value).padStart(12)} ${unit}`);
      results.push({ name, unit, median: value, runs: [value] });
    }
  } finally {
    removeFolder(folder);
  }
  const settings = {
    ...{ ticks, frames: dataSet.frames, events: EVENTS, markets: EVENTS * MARKETS_PER_EVENT, seed: SEED },
  };
  if (ticks !== FULL_DATASET_TICKS) print('  nothing is written');
  else {
    const more = { compression: 'ZSTD(1)', rowGroup: ROWS.rowGroup, files: 'in the page cache', runs: 1, ...machine() };
    writeResults({ bench: DATASETS_BENCH, about: DATASETS_ABOUT, settings: { ...settings, ...more }, results });
  }
}

async function* measureAll(dataSet: DataSet, folder: string, signal: AbortSignal): AsyncGenerator<BenchFigure> {
  const release = join(folder, 'release');
  yield* measureExport(dataSet, join(folder, 'ticks'), release, signal);
  yield* sizes(release, signal);
  yield* measureReaders(dataSet, folder, release, signal);
}

/** Of ticks alone, then of the release. */
async function* measureExport(
  { folder, ticks, frames }: DataSet,
  out: string,
  release: string,
  signal: AbortSignal,
): AsyncGenerator<BenchFigure> {
  const warehouse = await ServiceProcess.start('warehouse', [
    '--data',
    folder,
    '--clickhouse-port',
    '0',
    '--metrics-port',
    '0',
  ]);
  try {
    const server = await findEmbedded(folder);
    if (!server) throw new Error('the embedded ClickHouse is not running');
    resetPeak(server.pid);
    const common = ['export', '--data', folder];
    const exported = await runCommand([...common, '--tables', 'price_ticks', '--out', out], signal);
    yield { name: 'export of ticks', value: round(ticks / exported.seconds), unit: 'rows/s' };
    yield { name: 'export of ticks, ClickHouse, peak memory', value: megabytes(peakBytes(server.pid)), unit: 'MB' };
    yield { name: 'export of ticks, the command, peak memory', value: megabytes(exported.peakBytes), unit: 'MB' };
    const named = ['--tables', 'price_ticks,raw_records', '--release', 'bench@1', '--simulated', '--out', release];
    const released = await runCommand([...common, ...named], signal);
    yield { name: 'export and release', value: round((ticks + frames) / released.seconds), unit: 'rows/s' };
  } finally {
    await warehouse.stop();
  }
}

/** Bytes per row of each table and column. */
async function* sizes(release: string, signal: AbortSignal): AsyncGenerator<BenchFigure> {
  const server = await FileServer.start({ folder: release, unconfined: false }, signal);
  try {
    for (const [table, unit] of [
      ['price_ticks', 'bytes/tick'],
      ['raw_records', 'bytes/frame'],
    ] as const) {
      const files = readManifest(release).files.filter((file) => file.table === table);
      const rows = files.reduce((sum, file) => sum + file.rows, 0);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      yield { name: `${table}, file size`, value: round(bytes / rows, 2), unit };
      const columns = await server.source.rows<{ name: string; bytes: number }>(
        `SELECT tupleElement(column, 'name') AS name, toUInt64(sum(tupleElement(column, 'total_compressed_size'))) AS bytes
         FROM (SELECT arrayJoin(columns) AS column FROM file(${text(`${server.folder}/${table}/*.parquet`)}, ParquetMetadata))
         GROUP BY name ORDER BY bytes DESC, name`,
        signal,
      );
      for (const column of columns) {
        yield { name: `${table}, column ${column.name}`, value: round(column.bytes / rows, 2), unit };
      }
    }
  } finally {
    await server.close();
  }
}

async function* measureReaders(
  { ticks, frames }: DataSet,
  folder: string,
  release: string,
  signal: AbortSignal,
): AsyncGenerator<BenchFigure> {
  const rows = ticks + frames;
  const bytes = readManifest(release).files.reduce((sum, file) => sum + file.bytes, 0);
  const checksums = await runCommand(['dataset', 'verify', release, '--checksums-only'], signal);
  yield { name: 'verify --checksums-only', value: round(bytes / 1e6 / checksums.seconds), unit: 'MB/s' };
  const verified = await runCommand(['dataset', 'verify', release], signal);
  yield { name: 'verify', value: round(rows / verified.seconds), unit: 'rows/s' };
  yield { name: 'verify, peak memory of all its processes', value: megabytes(verified.peakBytes), unit: 'MB' };
  const imported = await runCommand(['import', release, '--data', join(folder, 'imported')], signal);
  yield { name: 'import, with verify before it', value: round(rows / imported.seconds), unit: 'rows/s' };
  yield { name: 'import, peak memory of all its processes', value: megabytes(imported.peakBytes), unit: 'MB' };
}
