import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqlFolder } from '../../warehouse/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { releasedMigrationViolations } from './released-migrations.js';

const FILES = {
  '0001_create_one': 'SELECT 1;\n',
  '0002_create_two': 'SELECT 2;\n',
  '0003_create_three': 'SELECT 3;\n',
};
const entry = (name: keyof typeof FILES) => ({
  name,
  sha256: createHash('sha256').update(FILES[name]).digest('hex'),
});
const RELEASED = [entry('0001_create_one'), entry('0002_create_two')];

/** The violations in a folder with these migrations and this list, and with a data folder of the previous release. */
function violationsOf(files: Readonly<Record<string, string>>, released: unknown): string[] {
  const previousRelease = temporaryFolder();
  writeFileSync(join(previousRelease, 'layout'), '1\n');
  return releasedMigrationViolations(sqlFolderOf(files, released), previousRelease);
}

function sqlFolderOf(files: Readonly<Record<string, string>>, released: unknown): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'migrations'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'migrations', `${name}.sql`), text);
  writeFileSync(join(folder, 'migrations/released.json'), JSON.stringify(released));
  return folder;
}

describe('released migrations', () => {
  it('are unchanged', () => {
    expect(releasedMigrationViolations(sqlFolder())).toEqual([]);
  });

  it('may be followed by new ones', () => {
    expect(violationsOf(FILES, RELEASED)).toEqual([]);
    expect(violationsOf(FILES, [])).toEqual([]);
  });

  it('must not be edited', () => {
    expect(violationsOf({ ...FILES, '0002_create_two': 'SELECT 22;\n' }, RELEASED)).toEqual([
      '0002_create_two.sql was edited after its release',
    ]);
  });

  it('must not be removed', () => {
    const { '0002_create_two': _, ...others } = FILES;
    expect(violationsOf(others, RELEASED)).toEqual(['0002_create_two.sql was released and is missing']);
  });

  it('must be listed in the order of their numbers, without a new one between them', () => {
    expect(violationsOf(FILES, RELEASED.toReversed())).toEqual([
      '0002_create_two.sql is number 1 of the list, but 0001_create_one.sql of the files',
      '0001_create_one.sql is number 2 of the list, but 0002_create_two.sql of the files',
    ]);
    expect(violationsOf(FILES, [RELEASED[0], entry('0003_create_three')])).toEqual([
      '0003_create_three.sql is number 2 of the list, but 0002_create_two.sql of the files',
    ]);
  });

  it('require a stored data folder of the previous release as soon as one is listed', () => {
    const empty = temporaryFolder();
    expect(releasedMigrationViolations(sqlFolderOf(FILES, []), empty)).toEqual([]);
    expect(releasedMigrationViolations(sqlFolderOf(FILES, RELEASED), empty)).toEqual([
      `released.json has entries, but ${empty} is not a data folder: ` +
        'store a small one that the release wrote, and test that this version reads it',
    ]);
  });

  it('must be listed with name and SHA-256 only', () => {
    expect(() => violationsOf(FILES, [{ name: '0001_create_one' }])).toThrow('sha256');
  });
});
