import { type Command, Option } from 'commander';
import { DEFAULT_PORTS, flagOf, UsageError } from '../core/index.js';
import { EXCHANGE_OPTIONS, type ExchangeOption } from '../exchange/index.js';

/**
 * The command-line flag of an option of the simulated exchange.
 * @param about prefix of its help, in commands that do more than run the exchange
 */
export function exchangeFlag(
  { name, placeholder, default: preset, help }: ExchangeOption<unknown>,
  about = '',
): Option {
  if (placeholder === undefined) return new Option(flagOf(name), about + help);
  const shown = typeof preset === 'string' || typeof preset === 'number' ? ` (default: ${preset})` : '';
  return new Option(`${flagOf(name)} <${placeholder}>`, `${about}${help}${shown}`);
}

/** The flag for the port of the exchange that `chancery up` simulates. */
export function exchangePortFlag(): Option {
  const preset = `default: ${DEFAULT_PORTS.exchange}, or the next free one`;
  return new Option('--exchange-port <PORT>', `port of the simulated exchange (${preset})`);
}

/**
 * The port of the flag of `exchangePortFlag`; undefined when it was not given.
 * @throws UsageError when it is not a port
 */
export function exchangePortOf(command: Command): number | undefined {
  const value: unknown = command.getOptionValue('exchangePort');
  if (value === undefined) return undefined;
  try {
    return EXCHANGE_OPTIONS.port.parse(value) || undefined;
  } catch {
    throw new UsageError(`--exchange-port is ${JSON.stringify(value)}: it must be a whole number from 0 to 65535`);
  }
}
