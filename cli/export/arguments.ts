import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat, isDay, parseRelease } from '../../datasets/index.js';

/** Options of `chancery export`. */
export interface ExportArguments {
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
  readonly candlePeriods: readonly number[];
  readonly unfinished?: boolean;
  readonly finishedAfterHours: number;
  readonly exchangeName?: string;
  readonly release?: ReturnType<typeof parseRelease>;
  readonly title?: string;
  readonly license?: string;
  readonly creator?: string;
  readonly sourceUrl?: string;
  readonly simulated?: boolean;
  readonly includePrivate?: boolean;
  readonly previous?: string;
}

const CANDLE_PERIODS = [60, 3600, 86_400];

const EXAMPLES = `
Examples:
  chancery export --out dataset
  chancery export --out today --unfinished --tables price_ticks,chance_points --format csv
  chancery export --out tardis --format tardis-csv --event 16ba69d6-a856-4030-89ff-ddb558f5f6d0
  chancery export --out release --release rain-markets@1.0.0 --license CC-BY-4.0 --creator "Ann Example"
`;

export function defineOptions(command: Command): void {
  command
    .requiredOption('--out <DIR>', 'folder of the files; a killed export resumes there')
    .addOption(new Option('--format <FORMAT>', 'format of the files').choices(EXPORT_FORMATS).default('parquet'))
    .option('--tables <NAMES>', 'tables, separated by commas; all public tables if omitted', names)
    .option('--from <DAY>', 'first UTC day, like 2026-01-31', day)
    .option('--to <DAY>', 'last UTC day', day)
    .option('--event <IDS>', 'events, separated by commas', names)
    .option('--market <IDS>', 'markets, separated by commas', names)
    .option('--category <NAMES>', 'categories of events, separated by commas', names)
    .option('--tag <NAMES>', 'tags of events, separated by commas', names)
    .option('--accounts <NAMES>', 'also write the records of these accounts, which are private', names)
    .addOption(
      new Option('--candle-periods <SECONDS>', 'lengths of candles, seconds, separated by commas')
        .argParser(periods)
        .default(CANDLE_PERIODS, CANDLE_PERIODS.join(',')),
    )
    .option('--unfinished', 'also export days that are not finished: more of their rows may arrive')
    .option('--finished-after-hours <HOURS>', 'hours after the end of a day before it counts as finished', hours, 24)
    .option('--exchange-name <NAME>', 'name of the exchange in tardis-csv (default: chancery)', exchangeName)
    .option(
      '--release <NAME@VERSION>',
      'make the export a release, with manifest, checksums and descriptions',
      parseRelease,
    )
    .option('--title <TEXT>', 'title of the release')
    .option('--license <TEXT>', 'licence of the release, such as an SPDX identifier; "not stated" if omitted')
    .option('--creator <TEXT>', 'who made the release; "not stated" if omitted')
    .option('--source-url <URL>', 'where the release is published')
    .option(
      '--simulated',
      'state that the data is of a simulated exchange; not needed if `chancery up` started that exchange',
    )
    .option(
      '--previous <DIR>',
      'folder of an earlier version of the release: the manifest lists the files that have changed since',
    )
    .option('--include-private', 'allow --accounts in a release')
    .addHelpText('after', EXAMPLES.trimEnd());
}

const names = (value: string): string[] => value.split(',').filter((name) => name !== '');

function periods(value: string): number[] {
  const parsed = value.split(',').map(Number);
  if (parsed.every((seconds) => Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400)) return parsed;
  throw new InvalidArgumentError('it must be whole numbers from 1 to 86400, like 60,3600');
}

function day(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('it must be a day, like 2026-01-31');
}

function hours(value: string): number {
  const parsed = Number(value);
  if (Number.isFinite(parsed) && parsed >= 0 && value.trim() !== '') return parsed;
  throw new InvalidArgumentError('it must be a number of hours, like 24');
}

function exchangeName(value: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,39}$/.test(value)) return value;
  throw new InvalidArgumentError('it must be lower case letters, digits and -, like chancery');
}
