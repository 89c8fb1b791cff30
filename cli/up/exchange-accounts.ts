import { z } from 'zod';
import { writeFileAtomicSync } from '../../core/index.js';

const text = z.string().min(1);
const readySchema = z.array(z.object({ userId: text, email: text, password: text, apiKey: text, apiSecret: text }));

/**
 * Writes the accounts that the simulated exchange named on its ready line as an accounts file that only we can read.
 */
export function writeExchangeAccounts(path: string, accounts: unknown): void {
  const entries = readySchema
    .catch([])
    .parse(accounts)
    .map((account) => [account.email.replace(/@.*$/, '').toLowerCase(), account]);
  writeFileAtomicSync(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}
