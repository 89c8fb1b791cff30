import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { processSignal, type Settings, systemClock, UnavailableError } from '../../core/index.js';
import {
  assertDay,
  committedPositions,
  EXPORT_FORMATS,
  type ExportFormat,
  ExportSource,
  exportTables,
  userKey,
} from '../../datasets/index.js';
import { ProgressView, reportLines } from '../export/progress.js';
import { instancePaths, openBusReadOnly } from '../parts/instance.js';
import { connectForExport } from '../parts/read-only.js';
import { settingsOf } from '../settings.js';

interface ExportArguments {
  readonly out: string;
  readonly format: ExportFormat;
  readonly tables?: string[];
  readonly from?: string;
  readonly to?: string;
  readonly event?: string[];
  readonly market?: string[];
  readonly category?: string[];
  readonly tag?: string[];
  readonly accounts?: string[];
  readonly unfinished?: boolean;
  readonly settleHours: number;
}

const EXAMPLES = `
Examples:
  chancery export --out dataset
  chancery export --out today --unfinished --tables price_ticks,chance_points --format csv
`;

/** `chancery export`: the public tables as files. */
export function define(command: Command): void {
  command
    .requiredOption('--out <DIR>', 'folder of the files; a killed export resumes there')
    .addOption(new Option('--format <FORMAT>', 'format of the files').choices(EXPORT_FORMATS).default('parquet'))
    .option('--tables <NAMES>', 'tables, separated by commas; all public tables if omitted', names)
    .option('--from <DAY>', 'first UTC day, like 2026-01-31', assertDay)
    .option('--to <DAY>', 'last UTC day', assertDay)
    .option('--event <IDS>', 'events, separated by commas', names)
    .option('--market <IDS>', 'markets, separated by commas', names)
    .option('--category <NAMES>', 'categories of events, separated by commas', names)
    .option('--tag <NAMES>', 'tags of events, separated by commas', names)
    .option('--accounts <NAMES>', 'write the own records of these accounts, too, which are private', names)
    .option('--unfinished', 'export days that are not finished, too: rows of them may still arrive')
    .option('--settle-hours <HOURS>', 'a day is finished this long after its end, hours', hours, 24)
    .addHelpText('after', EXAMPLES.trimEnd())
    .action((options: ExportArguments) => run(settingsOf(command).settings, options));
}

async function run(settings: Settings, options: ExportArguments): Promise<void> {
  const { out, event, market, category, tag, unfinished = false, ...request } = options;
  const signal = processSignal();
  const connection = await connectForExport(settings, signal);
  try {
    const { folder, exportUserKey } = instancePaths(settings.data);
    const positions = await positionsOf(settings, folder);
    const view = new ProgressView(process.stderr, () => systemClock.nowMs());
    const { format, tables, from, to, accounts, settleHours } = request;
    const filters = { events: event, markets: market, categories: category, tags: tag };
    const report = await exportTables(
      {
        source: new ExportSource(connection.client),
        database: settings.database,
        folder: resolve(out),
        request: { format, tables, from, to, ...filters, accounts, unfinished, settleHours },
        positions,
        userKey: await userKey(exportUserKey),
        nowMs: systemClock.nowMs(),
        onProgress: (progress) => view.show(progress),
      },
      signal,
    );
    process.stdout.write(`${reportLines(report, resolve(out)).join('\n')}\n`);
  } finally {
    await connection.close();
  }
}

async function positionsOf(settings: Settings, folder: string) {
  const bus = openBusReadOnly(settings);
  if (!bus) throw new UnavailableError(`${folder} has no bus: the offsets up to which rows are complete are not known`);
  try {
    return await committedPositions(bus, settings.group);
  } finally {
    await bus.close();
  }
}

const names = (value: string): string[] => value.split(',').filter((name) => name !== '');

function hours(value: string): number {
  const parsed = Number(value);
  if (Number.isFinite(parsed) && parsed >= 0 && value.trim() !== '') return parsed;
  throw new InvalidArgumentError('expected a number of hours, like 24');
}
