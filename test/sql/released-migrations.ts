import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readMigrations } from '../../warehouse/schema/sql-files.js';

const listSchema = z.array(z.strictObject({ name: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }));

/** A small data folder that the previous release wrote, for a test that opens it with this version. */
const PREVIOUS_RELEASE = 'test/sql/previous-release';

/**
 * The violations of `migrations/released.json` in a SQL folder, one line each: a released migration is never edited, and
 * a data folder of the previous release is stored.
 * @param previousRelease see `PREVIOUS_RELEASE`
 */
export function releasedMigrationViolations(folder: string, previousRelease = PREVIOUS_RELEASE): string[] {
  const released = listSchema.parse(JSON.parse(readFileSync(join(folder, 'migrations/released.json'), 'utf8')));
  const migrations = readMigrations(folder);
  const edits = released.flatMap(({ name, sha256 }, i) => {
    const file = migrations.find((migration) => migration.name === name);
    if (!file) return [`${name}.sql was released and is missing`];
    const violations: string[] = [];
    if (file.checksum !== sha256) violations.push(`${name}.sql was edited after its release`);
    const expected = migrations[i]?.name;
    if (expected !== name)
      violations.push(`${name}.sql is number ${i + 1} of the list, but ${expected}.sql of the files`);
    return violations;
  });
  if (released.length === 0 || existsSync(join(previousRelease, 'layout'))) return edits;
  const missing = `released.json has entries, but ${previousRelease} is not a data folder`;
  return [...edits, `${missing}: store a small one that the release wrote, and test that this version reads it`];
}
