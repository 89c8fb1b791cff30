import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder, UsageError } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('creates a folder with its parents, once', () => {
  const path = join(temporaryFolder(), 'a/b');
  expect(makeFolder(path, { option: '--out', mode: 0o700 })).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(makeFolder(path, { option: '--out' })).toBe(false);
});

it('names the option of a folder that cannot be', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file, { option: '--keep' })).toThrow(
    new UsageError(`${file} is a file, not a folder; choose another with --keep`),
  );
  if (existsSync('/proc/self')) {
    expect(() => makeFolder('/proc/chancery/a', { option: '--out' })).toThrow(
      /^\/proc cannot contain folders .*--out$/,
    );
  }
});
