import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Clock, describeError, type Logger, UsageError } from '../../core/index.js';
import type { Connection } from '../connection.js';
import { StatementError } from '../errors.js';
import { type Applied, Ledger } from './ledger.js';
import { withMigrationLock } from './migration-lock.js';
import { fillPlaceholders, type Placeholders } from './placeholders.js';
import { readMigrations, readViews, type SqlFile, type ViewFile } from './sql-files.js';
import { splitStatements } from './statements.js';
import { alignTableSettings } from './table-settings.js';

export interface MigrateOptions extends Omit<Placeholders, 'database'> {
  /** Folder with `migrations/` and `views/`. Default: the one that comes with Chancery. */
  readonly folder?: string;
  readonly logger?: Logger;
  readonly clock?: Clock;
}

export interface MigrateResult {
  /** Names of the migrations and views that were applied or replaced, and of the views that were dropped. */
  readonly migrations: readonly string[];
  readonly views: readonly string[];
  readonly dropped: readonly string[];
}

/**
 * Brings the database up to date: applies the migrations that are new, in order, then creates or replaces the views
 * whose files changed and drops those whose files are gone. Safe at every start, and when several start at once. A
 * migration's statements must be harmless when run again (`IF NOT EXISTS`), for it is repeated whole after a crash.
 * @throws UsageError when an applied migration was changed or is missing, or when a statement fails (file and reason)
 */
export async function migrate(
  connection: Connection,
  options: MigrateOptions,
  signal: AbortSignal,
): Promise<MigrateResult> {
  const folder = options.folder ?? sqlFolder();
  const migrations = readMigrations(folder);
  const views = readViews(folder);
  const ledger = new Ledger(connection);
  const result = { migrations: [] as string[], views: [] as string[], dropped: [] as string[] };
  const run = new Run(connection, ledger, { ...options, database: connection.database }, signal);
  if ((await run.isCurrent(migrations, views)) === false) {
    await ledger.create();
    await withMigrationLock(
      connection,
      async () => {
        for (const file of pendingMigrations(migrations, await ledger.read('migration'))) {
          await run.apply('migration', file);
          result.migrations.push(file.name);
          options.logger?.info({ migration: file.name }, 'migration applied');
        }
        for (const file of await run.outdatedViews(views)) {
          await run.apply('view', file);
          result.views.push(file.name);
        }
        result.dropped.push(...(await run.dropViewsWithoutFile(views)));
      },
      signal,
      options.clock,
    );
  }
  await alignTableSettings(connection, options.fsync);
  return result;
}

/** Compares what was applied with the files; answers those still to apply. */
function pendingMigrations(files: readonly SqlFile[], applied: readonly Applied[]): SqlFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const { name, checksum, applied_at } of applied) {
    const file = byName.get(name);
    if (!file) {
      throw new UsageError(
        `migration ${name}.sql was applied to this database on ${applied_at} but is not part of this Chancery; ` +
          'use the version that recorded the data, or a newer one',
      );
    }
    if (file.checksum !== checksum) {
      throw new UsageError(
        `migration ${name}.sql was changed after it was applied on ${applied_at}; ` +
          'put the file back as it was and write the change into a new migration',
      );
    }
  }
  const last = applied.at(-1)?.name ?? '';
  const done = new Set(applied.map((a) => a.name));
  const pending = files.filter((file) => !done.has(file.name));
  const late = pending.find((file) => file.name < last);
  if (late) {
    throw new UsageError(
      `migration ${late.name}.sql comes before ${last}.sql, which is applied; give it a higher number`,
    );
  }
  return pending;
}

class Run {
  constructor(
    private readonly connection: Connection,
    private readonly ledger: Ledger,
    private readonly placeholders: Placeholders,
    private readonly signal: AbortSignal,
  ) {}

  async isCurrent(migrations: readonly SqlFile[], views: readonly ViewFile[]): Promise<boolean> {
    const applied = await this.ledger.read('migration');
    if (applied.length === 0 || pendingMigrations(migrations, applied).length > 0) return false;
    const recorded = await this.ledger.read('view');
    return recorded.length === views.length && (await this.outdatedViews(views)).length === 0;
  }

  async apply(kind: 'migration' | 'view', file: SqlFile): Promise<void> {
    const path = `${file.name}.sql`;
    const statements = splitStatements(fillPlaceholders(file.text, this.placeholders, path));
    if (kind === 'view') assertView(statements, this.connection.database, file);
    for (const [i, statement] of statements.entries()) {
      this.signal.throwIfAborted();
      try {
        await this.connection.command(statement);
      } catch (error) {
        if (!(error instanceof StatementError) || error.retryable) throw error;
        throw new UsageError(`${path}, statement ${i + 1} of ${statements.length}: ${describeError(error)}`, {
          cause: error,
        });
      }
    }
    await this.ledger.record(kind, file.name, file.checksum);
  }

  /** Views that are new, changed, read a changed view, or are not there any more. */
  async outdatedViews(views: readonly ViewFile[]): Promise<ViewFile[]> {
    const recorded = new Map((await this.ledger.read('view')).map((a) => [a.name, a.checksum]));
    const existing = new Set(
      (
        await this.connection.query<{ name: string }>(
          "SELECT name FROM system.tables WHERE database = {database:String} AND engine = 'View'",
          { database: this.connection.database },
        )
      ).map((row) => row.name),
    );
    return views.filter((view) => recorded.get(view.name) !== view.checksum || !existing.has(view.name));
  }

  async dropViewsWithoutFile(views: readonly ViewFile[]): Promise<string[]> {
    const known = new Set(views.map((view) => view.name));
    const gone = (await this.ledger.read('view')).filter((applied) => !known.has(applied.name));
    for (const { name } of gone) {
      await this.connection.command(`DROP VIEW IF EXISTS ${this.connection.database}.${name} SYNC`);
      await this.ledger.record('view', name, '');
    }
    return gone.map((applied) => applied.name);
  }
}

/** One statement that creates the view which the file is named after: so that files and views correspond. */
function assertView(statements: readonly string[], database: string, file: SqlFile): void {
  const begin = new RegExp(`^(\\s|--[^\\n]*\\n)*CREATE OR REPLACE VIEW ${database}\\.${file.name}\\b`);
  if (statements.length === 1 && begin.test(statements[0] ?? '')) return;
  throw new UsageError(
    `${file.name}.sql must be one statement that begins with CREATE OR REPLACE VIEW {database}.${file.name}`,
  );
}

/** The `sql` folder that comes with Chancery, whether this runs as TypeScript or compiled. */
export function sqlFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'sql');
}
