import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as reading from '../../client/index.js';
import * as trading from '../../client/trading/index.js';
import { importsOf } from '../layout/import-rules.js';

const root = join(import.meta.dirname, '../..');

/** Every file of the project that a file imports, directly or indirectly. */
function reachableFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const target of importsOf(file, readFileSync(join(root, file), 'utf8'))) reachableFrom(target, seen);
  return seen;
}

describe('the read-only client and the trading client', () => {
  it('are separate: the imports of chancery/client never reach a file that trades', () => {
    const files = [...reachableFrom('client/index.ts')];
    expect(files).toContain('client/account-client.ts');
    expect(files).toContain('client/rest/account/wallet.ts');
    expect(files.filter((file) => file.startsWith('client/trading/'))).toEqual([]);
    expect([...reachableFrom('client/trading/index.ts')]).toContain('client/trading/api-key-admin.ts');
  });

  it('are separate: no file outside client/trading/ contains a request that places an order or creates a key', () => {
    const files = [...reachableFrom('client/index.ts')].filter((file) => file.startsWith('client/'));
    const posts = files.filter((file) => /method: '(POST|DELETE)'/.test(readFileSync(join(root, file), 'utf8')));
    // Event search asks by POST, and logging in changes nothing of the account.
    expect(posts.sort()).toEqual(['client/auth/login.ts', 'client/rest/events.ts']);
    expect(Object.keys(reading).filter((name) => name in trading)).toEqual([]);
    expect(Object.keys(trading).sort()).toEqual(['ApiKeyAdmin', 'TradingClient']);
  });
});
