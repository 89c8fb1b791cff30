import type { Decimal } from '../../client/index.js';
import { parseDecimal12 } from '../../core/index.js';
import type { RecordOutput } from '../record/record-output.js';

type Amount = Decimal | null;

/**
 * Whether every amount fits Decimal(38, 12) without rounding. Otherwise the whole record becomes a dead letter, since sums
 * must not include a part of it.
 * @param what description of the record, like `trade <ID>`
 * @param amounts by field name of the interface
 */
export function areExact(
  what: string,
  amounts: Readonly<Record<string, Amount>>,
  record: unknown,
  output: RecordOutput,
): boolean {
  for (const [name, amount] of Object.entries(amounts)) {
    const reason = unfit(amount);
    if (reason === undefined) continue;
    output.dead({ path: `${what} ${name}`, reason }, JSON.stringify(record));
    return false;
  }
  return true;
}

/** A derived amount; null and a dead letter when it does not fit Decimal(38, 12). Its record remains valid. */
export function exactOrDead(amount: Amount, path: string, output: RecordOutput): Amount {
  const reason = unfit(amount);
  if (reason === undefined) return amount;
  output.dead({ path, reason }, String(amount));
  return null;
}

function unfit(amount: Amount): string | undefined {
  if (amount === null) return undefined;
  try {
    parseDecimal12(amount);
    return undefined;
  } catch {
    return 'expected an amount of at most 12 decimals and 26 digits before them';
  }
}
