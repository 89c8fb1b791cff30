import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

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
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`, { mode: 0o600 });
  // The mode above is for a new file only.
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}
