import { join } from 'node:path';
import { type Clock, type Logger, packageRoot, UsageError } from '../../core/index.js';
import type { Connection } from '../connection.js';
import { shardDatabase } from '../names.js';
import { AppliedSql } from './applied-sql.js';
import { withMigrationLock } from './migration-lock.js';
import type { Placeholders } from './placeholders.js';
import { readMigrations, readViews, type ViewFile } from './sql-files.js';
import { SqlRun } from './sql-run.js';
import { alignTableSettings } from './table-settings.js';

export interface MigrateOptions extends Omit<Placeholders, 'database' | 'replicated'> {
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
 * Brings the database up to date: applies new migrations in order, then creates or replaces the views whose files changed
 * and drops those without a file. Safe at every start, also of several processes together. A migration's statements must
 * be idempotent (`IF NOT EXISTS`): after a crash all of them run again.
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
  const appliedSql = new AppliedSql(connection);
  const placeholders = { ...options, database: connection.database };
  const run = new SqlRun({ connection, appliedSql, placeholders, signal });
  const work = async () => {
    const applied = await run.applyMigrations(migrations);
    for (const migration of applied) options.logger?.info({ migration }, 'migration applied');
    return {
      migrations: applied,
      views: await run.applyViews(views),
      dropped: await run.dropViewsWithoutFile(views),
    };
  };
  let result: MigrateResult = { migrations: [], views: [], dropped: [] };
  if (!(await run.isCurrent(migrations, views))) {
    await assertNoShard(connection);
    await appliedSql.create();
    result = await withMigrationLock(connection, work, signal, options.clock);
  }
  await alignTableSettings(connection, options.fsync);
  return result;
}

/** A node of a cluster has its tables in another database; tables created here would stay empty. */
async function assertNoShard(connection: Connection): Promise<void> {
  const shard = await connection.query('SELECT name FROM system.databases WHERE name = {name:String}', {
    name: shardDatabase(connection.database),
  });
  if (shard.length === 0) return;
  throw new UsageError(
    `ClickHouse at ${connection.url} is a node of a cluster (it has the database ${shardDatabase(connection.database)}); ` +
      'name all of its nodes with --clickhouse-cluster',
  );
}

/** The `sql` folder that comes with Chancery. */
export const sqlFolder = (): string => join(packageRoot(), 'sql');

/** The views that come with Chancery. */
export const viewFiles = (): ViewFile[] => readViews(sqlFolder());
