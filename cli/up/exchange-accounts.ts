import { z } from 'zod';
import { writeFileAtomicSync } from '../../core/index.js';

const text = z.string().min(1);
const readySchema = z.array(z.object({ userId: text, email: text, password: text, apiKey: text, apiSecret: text }));

/**
 * Writes the accounts of the simulated exchange's ready line as an accounts file, readable by the owner only.
 */
export function writeExchangeAccounts(path: string, accounts: unknown): void {
  const entries = readySchema
    .catch([])
    .parse(accounts)
    .map((account) => [account.email.replace(/@.*$/, '').toLowerCase(), account]);
  writeFileAtomicSync(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}
