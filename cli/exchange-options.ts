import { Option } from 'commander';
import { flagOf } from '../core/index.js';
import type { ExchangeOption } from '../exchange/index.js';

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
