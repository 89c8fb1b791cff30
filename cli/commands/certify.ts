import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { reportLines } from '../../certify/index.js';
import { describeError, flagOf, UsageError } from '../../core/index.js';
import { EXCHANGE_OPTIONS } from '../../exchange/index.js';
import type { CertifiedExchange } from '../certify/certified-exchange.js';
import { runCertify } from '../certify/run-certify.js';
import { EXIT } from '../errors.js';
import { exchangeFlag } from '../exchange-options.js';
import { optionNamedLike } from '../settings.js';

/** Options of the simulated exchange that are passed to it. */
const EXCHANGE_FLAGS = ['events', 'bots', 'pace'] as const;
const MINUTES = { default: 2, max: 1440 };

const EXAMPLES = `
Examples:
  chancery certify
  chancery certify --minutes 10 --seed 7
  chancery certify --no-faults --json
  chancery certify --against http://127.0.0.1:9100 --control-token-file token.txt --accounts-file accounts.json
`;

interface Flags {
  readonly minutes?: string;
  readonly seed?: unknown;
  readonly events?: unknown;
  readonly against?: string;
  readonly controlToken?: string;
  readonly controlTokenFile?: string;
  readonly accountsFile?: string;
  readonly faults?: boolean;
  readonly keep?: string;
  readonly json?: boolean;
}

/** `chancery certify`: records a simulated exchange and compares ClickHouse with its ledger. */
export function define(command: Command): void {
  command
    .addHelpText('after', EXAMPLES.trimEnd())
    .option('--minutes <N>', `minutes of trading (default: ${MINUTES.default})`)
    .option(
      '--seed <N>',
      `same seed: same events, markets, accounts and IDs, and with the same --minutes the same plan of faults and kills (default: ${EXCHANGE_OPTIONS.seed.default})`,
    )
    .option('--against <URL>', 'certify a running exchange that has the control interface, instead of starting one')
    .option(
      '--control-token <T>',
      'with --against: the control token, from the ready line of the exchange; other users see it in the process list',
    )
    .option('--control-token-file <FILE>', 'with --against: a file with the control token')
    .addOption(optionNamedLike('accountsFile', 'with --against: the accounts to record and compare (default: none)'))
    .option(
      '--faults',
      'arm faults at the exchange, and kill processes of the pipeline (the default without --against)',
    )
    .addOption(new Option('--no-faults', 'arm no faults, and kill no process (the default with --against)'))
    .option(
      '--keep <DIR>',
      'data folder to use, which is not removed at the end (default: a temporary one, which is removed)',
    )
    .option('--json', 'print JSON');
  for (const name of EXCHANGE_FLAGS) command.addOption(exchangeFlag(EXCHANGE_OPTIONS[name], 'simulated exchange: '));
  command.action(async (flags: Flags) => {
    const certificate = await runCertify({
      exchange: exchangeOf(flags, command),
      minutes: minutesOf(flags.minutes),
      faults: flags.faults ?? flags.against === undefined,
      events: EXCHANGE_OPTIONS.events.parse(flags.events ?? EXCHANGE_OPTIONS.events.default),
      seed: EXCHANGE_OPTIONS.seed.parse(flags.seed ?? EXCHANGE_OPTIONS.seed.default),
      keep: flags.keep,
      onMessage: (text) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`),
    });
    const text = flags.json ? JSON.stringify(certificate, undefined, 2) : reportLines(certificate).join('\n');
    process.stdout.write(`${text}\n`);
    process.exitCode = certificate.passed ? EXIT.done : EXIT.failed;
  });
}

/** @throws UsageError when flags do not belong together */
function exchangeOf(flags: Flags, command: Command): CertifiedExchange {
  const { against, accountsFile } = flags;
  const given = flags.controlToken ?? flags.controlTokenFile;
  if (against === undefined) {
    if ((given ?? accountsFile) !== undefined) {
      throw new UsageError('--control-token, --control-token-file and --accounts-file belong to --against URL');
    }
    return { kind: 'own', flags: exchangeFlags(command) };
  }
  const controlToken = flags.controlToken ?? (flags.controlTokenFile && tokenIn(flags.controlTokenFile));
  if (!controlToken) {
    throw new UsageError(
      '--against needs --control-token-file or --control-token; the ready line of the exchange has the token',
    );
  }
  const own = ['bots', 'pace'].find((name) => command.getOptionValueSource(name) === 'cli');
  if (own) throw new UsageError(`--${own} is of the exchange that certify starts, not of one that --against names`);
  if (!URL.canParse(against)) throw new UsageError(`--against is ${JSON.stringify(against)}: it must be a URL`);
  return {
    kind: 'running',
    url: against.replace(/\/+$/, ''),
    controlToken,
    ...(accountsFile === undefined ? {} : { accountsFile }),
  };
}

/** @throws UsageError when the file cannot be read */
function tokenIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${describeError(error)}`, { cause: error });
  }
}

function exchangeFlags(command: Command): string[] {
  return EXCHANGE_FLAGS.flatMap((name) => {
    const value: unknown = command.getOptionValue(name);
    return value === undefined ? [] : [flagOf(name), String(EXCHANGE_OPTIONS[name].parse(value))];
  });
}

function minutesOf(text: string | undefined): number {
  const minutes = text === undefined ? MINUTES.default : Number(text);
  if (minutes > 0 && minutes <= MINUTES.max) return minutes;
  throw new UsageError(`--minutes is ${JSON.stringify(text)}: it must be a number above 0 and up to ${MINUTES.max}`);
}
