import { decimalText, MICROS, microsText, normalised, unitsOf } from '../amounts.js';
import { type Comparison, compareRows, notCompared } from '../comparison.js';
import type { RecordedAccounts } from '../recorded.js';
import type { Ledger } from '../truth.js';

const NAME = 'zero-sum over all accounts';

/**
 * What all accounts deposited is what they have, what backs their shares, and what they paid as fees; and the shares that
 * they hold cost, with all their profits and losses, exactly what backs them.
 */
export function compareZeroSum({ accounts, identity }: Ledger, recorded: RecordedAccounts): Comparison {
  const missing = accounts.filter(({ userId, usdc }) => usdc !== 0 && !recorded.names.has(userId)).length;
  if (missing > 0) return notCompared(NAME, `${missing} of ${accounts.length} accounts are not recorded`);
  const withoutLogin = recorded.names.size - recorded.withTransactions.size;
  if (withoutLogin > 0) return notCompared(NAME, `the transactions of ${withoutLogin} accounts are not recorded`);
  const micros = (text: string | undefined): bigint => microsOf(text ?? '0');
  const sum = (index: number) => recorded.pnlByAccount.reduce((total, { value }) => total + micros(value[index]), 0n);
  const [realised, fees, cost] = [sum(0), sum(1), sum(2)];
  const text = (units: bigint) => decimalText(units, MICROS);
  const deposited = unitsOf(identity.deposits, MICROS) - unitsOf(identity.withdrawals, MICROS);
  return compareRows(
    NAME,
    [
      ['deposits less withdrawals', text(deposited)],
      ['USDC of all accounts', text(unitsOf(identity.free, MICROS) + unitsOf(identity.locked, MICROS))],
      ['fees', microsText(identity.fees)],
      ['cost of all holdings less all realised profits', microsText(identity.backing)],
      ['deposits less USDC, fees and backing', '0'],
    ],
    [
      ['deposits less withdrawals', recorded.deposited],
      ['USDC of all accounts', recorded.usdc],
      ['fees', text(fees)],
      ['cost of all holdings less all realised profits', text(cost - realised)],
      [
        'deposits less USDC, fees and backing',
        text(micros(recorded.deposited) - micros(recorded.usdc) - fees - (cost - realised)),
      ],
    ],
  );
}

/** Millionths of a decimal with at most six decimals. */
function microsOf(text: string): bigint {
  const [whole = '0', fraction = ''] = normalised(text).replace('-', '').split('.');
  const units = BigInt(whole + fraction.padEnd(MICROS, '0'));
  return text.startsWith('-') ? -units : units;
}
