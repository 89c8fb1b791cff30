import { DEFAULT_PORTS, flagOf, nearest, UsageError } from '../../core/index.js';
import { NO_QUIRKS, parseQuirks, type Quirks } from './quirks.js';

/** One option of `chancery exchange`. */
export interface ExchangeOption<T> {
  /** camelCase; the flag is `flagOf(name)`. */
  readonly name: string;
  /** Undefined for a flag without a value. */
  readonly placeholder?: string;
  readonly default: T;
  /** One line for --help, with the unit. */
  readonly help: string;
  /** Parses a value of the command line; numbers and flags may already have their type. @throws UsageError */
  readonly parse: (value: unknown) => T;
}

interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
}

function numberOption(
  name: string,
  placeholder: string,
  preset: number,
  help: string,
  rule: NumberRule,
): ExchangeOption<number> {
  const parse = (value: unknown): number => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && number >= rule.min && number <= rule.max) {
      if (!rule.whole || Number.isInteger(number)) return number;
    }
    const kind = rule.whole ? 'a whole number' : 'a number';
    throw new UsageError(
      `${flagOf(name)} is ${JSON.stringify(value)}: it must be ${kind} from ${rule.min} to ${rule.max}`,
    );
  };
  return { name, placeholder, default: preset, help, parse };
}

const count = (max: number): NumberRule => ({ min: 0, max, whole: true });

function textOption<T>(
  name: string,
  placeholder: string,
  preset: T,
  help: string,
  read: (text: string) => T,
): ExchangeOption<T> {
  const parse = (value: unknown): T => {
    if (typeof value === 'string' && value.trim() !== '') return read(value);
    throw new UsageError(`${flagOf(name)} is ${JSON.stringify(value)}: it must be a text that is not empty`);
  };
  return { name, placeholder, default: preset, help, parse };
}

/** Every option of `chancery exchange`, by name. */
export const EXCHANGE_OPTIONS = {
  host: textOption('host', 'HOST', '127.0.0.1', 'address to listen on', (text) => text),
  port: numberOption('port', 'PORT', DEFAULT_PORTS.exchange, 'port to listen on; 0 picks a free one', count(65_535)),
  data: textOption<string | undefined>(
    'data',
    'DIR',
    undefined,
    'data folder; without it everything is in memory',
    (text) => text,
  ),
  seed: numberOption('seed', 'N', 1, 'same seed, same events, markets, accounts and IDs', count(2 ** 32 - 1)),
  events: numberOption('events', 'N', 40, 'number of events open at the same time', count(10_000)),
  bots: numberOption('bots', 'N', 24, 'number of trading bots; 0 for none', count(10_000)),
  pace: numberOption('pace', 'X', 1, 'speed of the bots and of events opening and ending; 1 is normal, 0 stops both', {
    min: 0,
    max: 1000,
    whole: false,
  }),
  accounts: numberOption('accounts', 'N', 3, 'number of accounts with API keys in the ready line', count(1000)),
  takerFeeBps: numberOption(
    'takerFeeBps',
    'BPS',
    20,
    'taker fee, basis points (hundredths of a percent)',
    count(10_000),
  ),
  quirks: textOption<Quirks>(
    'quirks',
    'A,B',
    NO_QUIRKS,
    'deviations from the interface that clients must tolerate: event-shape=…, trades-wrapper=…, max-page-size=N, rate-limit=N, extra-fields, heartbeat=SECONDS|off, numbers-as-strings, place-status=…, delete-status=…',
    parseQuirks,
  ),
  printBots: {
    name: 'printBots',
    default: false,
    help: "add the bots' accounts to the ready line",
    parse: (value: unknown): boolean => {
      if (typeof value === 'boolean') return value;
      throw new UsageError(`${flagOf('printBots')} takes no value`);
    },
  } satisfies ExchangeOption<boolean>,
  load: numberOption('load', 'FRAMES_PER_S', 0, 'generated frames per second on the order book stream', {
    min: 0,
    max: 1_000_000,
    whole: false,
  }),
} as const;

type ExchangeOptionName = keyof typeof EXCHANGE_OPTIONS;
/** The options of an exchange, each with its type. */
export type ExchangeSettings = {
  readonly [K in ExchangeOptionName]: ReturnType<(typeof EXCHANGE_OPTIONS)[K]['parse']>;
};

/**
 * Parses options by name; missing ones get their default.
 * @throws UsageError for an unknown name (with the nearest known one) or an invalid value
 */
export function readExchangeOptions(values: Readonly<Record<string, unknown>> = {}): ExchangeSettings {
  const names = Object.keys(EXCHANGE_OPTIONS) as ExchangeOptionName[];
  for (const name of Object.keys(values)) {
    if (!names.includes(name as ExchangeOptionName)) {
      throw new UsageError(`unknown option ${flagOf(name)} of the exchange${nearest(name, names)}`);
    }
  }
  const settings = names.map((name) => {
    const { parse, default: preset } = EXCHANGE_OPTIONS[name];
    return [name, values[name] === undefined ? preset : parse(values[name])];
  });
  return Object.fromEntries(settings) as ExchangeSettings;
}
