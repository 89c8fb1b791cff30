import { type Command, Option } from 'commander';
import { DEFAULT_PORTS, flagOf, UsageError } from '../core/index.js';
import { EXCHANGE_OPTIONS, type ExchangeOption } from '../exchange/index.js';

/**
 * The flag of an option of the simulated exchange.
 * @param about what its help begins with, where the command is about more than the exchange
 */
export function exchangeFlag(
  { name, placeholder, default: preset, help }: ExchangeOption<unknown>,
  about = '',
): Option {
  if (placeholder === undefined) return new Option(flagOf(name), about + help);
  const shown = typeof preset === 'string' || typeof preset === 'number' ? ` (default: ${preset})` : '';
  return new Option(`${flagOf(name)} <${placeholder}>`, `${about}${help}${shown}`);
}

/** The flag with the port of the exchange that `chancery up` simulates. */
export function exchangePortFlag(): Option {
  const preset = `default: ${DEFAULT_PORTS.exchange}, or the next free one`;
  return new Option('--exchange-port <PORT>', `port of the simulated exchange (${preset})`);
}

/**
 * The port that the flag of `exchangePortFlag` gives; undefined when none was asked for.
 * @throws UsageError when it is no port
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
