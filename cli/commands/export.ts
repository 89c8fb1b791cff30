import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  keepHeapSmall,
  processSignal,
  type Settings,
  systemClock,
  UnavailableError,
  UsageError,
} from '../../core/index.js';
import {
  assertNoRelease,
  committedPositions,
  type ExportReport,
  type ExportRequest,
  ExportSource,
  exportTables,
  makeRelease,
  releaseKey,
  userKey,
} from '../../datasets/index.js';
import { defineOptions, type ExportArguments } from '../export/arguments.js';
import { ProgressView, reportLines } from '../export/progress.js';
import { releaseOptions } from '../export/release-options.js';
import { instancePaths, openBusReadOnly } from '../service/instance.js';
import { connectForExport } from '../service/read-only.js';
import { settingsOf } from '../settings.js';

/** `chancery export`: the public tables as files, and releases of them. */
export function define(command: Command): void {
  defineOptions(command);
  command.action((options: ExportArguments) => run(settingsOf(command).settings, options));
}

async function run(settings: Settings, options: ExportArguments): Promise<void> {
  keepHeapSmall();
  const signal = processSignal();
  const folder = resolve(options.out);
  const { exchange, exportUserKey } = instancePaths(settings.data);
  const request = requestOf(options);
  const release = releaseOptions(options, exchange);
  assertNoRelease(folder);
  const connection = await connectForExport(settings, signal);
  try {
    const positions = await positionsOf(settings);
    const key = await userKey(exportUserKey);
    const view = new ProgressView(process.stderr, () => systemClock.nowMs());
    const report = await exportTables(
      {
        ...{ source: new ExportSource(connection.client), database: settings.database, folder, request, positions },
        userKey: release ? releaseKey(key, release.name) : key,
        nowMs: systemClock.nowMs(),
        onProgress: (progress) => view.show(progress),
      },
      signal,
    );
    const lines = reportLines(report, folder);
    if (release && report.filesInAll === 0) throw new UsageError(`there are no rows for a release${whyNone(report)}`);
    if (release) {
      const { plan } = report;
      const query = { ...request };
      const unconfined = settings.clickhouseUnconfined;
      const onFile = (done: number, inAll: number) => view.showChecked(done, inAll);
      const hash = await makeRelease({ folder, release, plan, query, unconfined, onFile }, signal);
      lines.push(`release ${release.name}@${release.version}, SHA-256 of its manifest: ${hash}`);
    }
    process.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    await connection.close();
  }
}

/** The reason of a day that was left out. */
function whyNone({ plan: { leftOut } }: ExportReport): string {
  const [first] = leftOut;
  return first ? ` (${first.day}: ${first.why}); --unfinished exports days that are not finished, too` : '';
}

/** @throws UsageError for options that do not go together */
function requestOf(options: ExportArguments): ExportRequest {
  const { format, tables, from, to, accounts, candlePeriods, unfinished = false, finishedAfterHours } = options;
  if (from !== undefined && to !== undefined && from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  const filters = { events: options.event, markets: options.market, categories: options.category, tags: options.tag };
  const request = { format, tables, from, to, ...filters, accounts, candlePeriods, unfinished, finishedAfterHours };
  if (format === 'tardis-csv') {
    if (accounts) throw new UsageError('tardis-csv has no records of accounts: --accounts needs another --format');
    return { ...request, exchangeName: options.exchangeName ?? 'chancery' };
  }
  if (options.exchangeName !== undefined) throw new UsageError('--exchange-name needs --format tardis-csv');
  return request;
}

async function positionsOf(settings: Settings) {
  const bus = openBusReadOnly(settings);
  if (!bus) {
    const { folder } = instancePaths(settings.data);
    throw new UnavailableError(`${folder} has no bus: the offsets up to which rows are complete are not known`);
  }
  try {
    return await committedPositions(bus, settings.group);
  } finally {
    await bus.close();
  }
}
