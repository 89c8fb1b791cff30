import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readMigrations } from '../../warehouse/schema/sql-files.js';

const listSchema = z.array(z.strictObject({ name: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }));

/** The violations of `migrations/released.json` in a SQL folder, one line each: a released migration is never edited. */
export function releasedMigrationViolations(folder: string): string[] {
  const released = listSchema.parse(JSON.parse(readFileSync(join(folder, 'migrations/released.json'), 'utf8')));
  const migrations = readMigrations(folder);
  return released.flatMap(({ name, sha256 }, i) => {
    const file = migrations.find((migration) => migration.name === name);
    if (!file) return [`${name}.sql was released and is missing`];
    const violations: string[] = [];
    if (file.checksum !== sha256) violations.push(`${name}.sql was edited after its release`);
    const expected = migrations[i]?.name;
    if (expected !== name)
      violations.push(`${name}.sql is number ${i + 1} of the list, but ${expected}.sql of the files`);
    return violations;
  });
}
