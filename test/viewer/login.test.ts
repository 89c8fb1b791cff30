import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readToken } from '../../viewer/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('the token of the viewer is 32 random bytes in a file that only its owner can read', () => {
  const [first, second] = [join(temporaryFolder(), 'token'), join(temporaryFolder(), 'token')];
  const mode = () => statSync(first).mode & 0o777;
  const token = readToken(first);
  expect([Buffer.from(token, 'base64url').length, mode()]).toEqual([32, 0o600]);
  expect(readFileSync(first, 'utf8')).toBe(`${token}\n`);
  expect(readToken(second)).not.toBe(token);
  chmodSync(first, 0o644);
  expect([readToken(first), mode()]).toEqual([token, 0o600]);
  writeFileSync(second, 'short\n');
  expect(() => readToken(second)).toThrow('holds no token of the viewer');
});
