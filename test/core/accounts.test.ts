import { chmodSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadAccounts, loadConfig, UsageError } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SECRET = 'c2VjcmV0LXRoYXQtbm9ib2R5LXNlZXM';

function fileWith(content: unknown, mode = 0o600): string {
  const folder = temporaryFolder();
  const path = join(folder, 'accounts.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(path, mode);
  return path;
}

const read = (env: Record<string, string>, accountsFile?: string) => loadAccounts({ accountsFile }, env);

/** The message of the error, which must not contain the secret. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    expect(inspect(error, { depth: 10 })).not.toContain(SECRET);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

describe('accounts', () => {
  it('come from the environment and from a private file, sorted by name, with their secrets hidden', () => {
    const file = fileWith({ bob: { apiKey: 'pk_bob', apiSecret: SECRET, userId: 'u-bob' }, cyd: { token: SECRET } });
    const accounts = read(
      {
        CHANCERY_ACCOUNT_MARKET_MAKER_API_KEY: 'pk_mm',
        CHANCERY_ACCOUNT_MARKET_MAKER_API_SECRET: SECRET,
        CHANCERY_ACCOUNT_ANN_EMAIL: 'ann@example.com',
        CHANCERY_ACCOUNT_ANN_PASSWORD: SECRET,
        CHANCERY_ACCOUNT_ANN_OTP: '123456',
        CHANCERY_ACCOUNT_EMPTY_API_KEY: '',
      },
      file,
    );
    expect(accounts.map((account) => account.name)).toEqual(['ann', 'bob', 'cyd', 'market_maker']);
    const [ann, bob, cyd, maker] = accounts;
    expect(ann).toMatchObject({ login: { email: 'ann@example.com' } });
    expect(ann?.login?.password.reveal()).toBe(SECRET);
    expect(ann?.login?.otp?.reveal()).toBe('123456');
    expect(bob).toMatchObject({ userId: 'u-bob', apiKey: { key: 'pk_bob' } });
    expect(bob?.apiKey?.secret.reveal()).toBe(SECRET);
    expect(cyd?.token?.reveal()).toBe(SECRET);
    expect(maker?.apiKey?.key).toBe('pk_mm');
    expect(inspect(accounts, { depth: 10 }) + JSON.stringify(accounts)).not.toContain(SECRET);
    expect(read({})).toEqual([]);
  });

  it('are refused from a file that others may read, with the command that helps', () => {
    const content = { bob: { apiKey: 'pk_bob', apiSecret: SECRET } };
    for (const mode of [0o644, 0o640, 0o604, 0o620, 0o700]) {
      const file = fileWith(content, mode);
      const shown = mode.toString(8).padStart(4, '0');
      expect(refusal(() => read({}, file))).toBe(`${file} holds secrets and has mode ${shown}; run: chmod 600 ${file}`);
    }
    expect(read({}, fileWith(content, 0o400))).toHaveLength(1);
    expect(refusal(() => read({}, '/nowhere/accounts.json'))).toMatch(
      /^cannot read the file of --accounts-file: .*\/nowhere\/accounts\.json/,
    );
    expect(refusal(() => read({}, tmpdir()))).toMatch(/is not a file/);
  });

  it('are rejected with one clear line when they are incomplete, and no line shows a value', () => {
    const of = (content: unknown) => refusal(() => read({}, fileWith(content)));
    expect(of(`{"bob":"${SECRET}`)).toMatch(/is not JSON; expected /);
    expect(of({ bob: SECRET })).toMatch(/bob: .*an account's fields are apiKey, apiSecret, token/);
    expect(of({ bob: { apikey: SECRET } })).toMatch(/bob: .*apikey/);
    expect(of({ bob: { apiSecret: SECRET } })).toMatch(/account bob in .* has an API secret without its key/);
    expect(of({ bob: { apiKey: 'pk' } })).toMatch(/an API key without its secret/);
    expect(of({ bob: { password: SECRET } })).toMatch(/a password or code without an email/);
    expect(of({ bob: { email: 'b@example.com' } })).toMatch(/an email without a password/);
    expect(of({ bob: { userId: 'u' } })).toMatch(/account bob in .* has no credentials/);
    expect(of({ activity: { token: SECRET } })).toMatch(/"activity" .* is not a valid account name/);
    expect(of({ 'Bob Smith': { token: SECRET } })).toMatch(/"Bob Smith" .* is not a valid account name/);
    const env = { CHANCERY_ACCOUNT_BOB_TOKEN: SECRET };
    expect(refusal(() => read(env, fileWith({ bob: { token: SECRET } })))).toMatch(/account bob is defined twice/);
  });

  it('have variables that every command accepts; a misspelt one is rejected without showing its value', () => {
    const folder = temporaryFolder();
    loadConfig({}, { CHANCERY_ACCOUNT_BOB_API_KEY: 'pk', CHANCERY_ACCOUNT_BOB_API_SECRET: SECRET }, folder);
    expect(refusal(() => loadConfig({}, { CHANCERY_ACCOUNT_BOB_APIKEY: SECRET }, folder))).toBe(
      'unknown environment variable CHANCERY_ACCOUNT_BOB_APIKEY: after CHANCERY_ACCOUNT_NAME, expected one of ' +
        '_API_KEY, _API_SECRET, _TOKEN, _EMAIL, _PASSWORD, _OTP, _USER_ID',
    );
  });
});
