import { describeError, UsageError } from '../../core/index.js';
import type { Connection } from '../connection.js';
import { StatementError } from '../errors.js';
import type { Applied, AppliedSql } from './applied-sql.js';
import { fillPlaceholders, type Placeholders } from './placeholders.js';
import type { SqlFile, ViewFile } from './sql-files.js';
import { splitStatements } from './statements.js';

interface SqlRunOptions {
  readonly connection: Connection;
  readonly appliedSql: AppliedSql;
  /** For migrations; its database is the connection's. */
  readonly placeholders: Placeholders;
  /** Database of the views, if it is another one, and the rewriting of their text. */
  readonly views?: { readonly database: string; readonly rewrite: (sql: string, file: string) => string };
  readonly signal: AbortSignal;
}

/** Without a cluster GLOBAL changes no answer, but ClickHouse does not use the set of a GLOBAL IN to read fewer columns. */
const withoutGlobal = (sql: string): string => sql.replace(/\bGLOBAL (?=(NOT )?IN\b)/g, '');

/** Applies SQL files to one database and records them. */
export class SqlRun {
  constructor(private readonly options: SqlRunOptions) {}

  /** Whether every migration was applied. Throws when an applied one was changed or is missing. */
  async isMigrated(migrations: readonly SqlFile[]): Promise<boolean> {
    const applied = await this.options.appliedSql.read('migration');
    return applied.length > 0 && pendingMigrations(migrations, applied, this.#where).length === 0;
  }

  /** Whether there is nothing to apply. Throws as `isMigrated` does. */
  async isCurrent(migrations: readonly SqlFile[], views: readonly ViewFile[]): Promise<boolean> {
    if (!(await this.isMigrated(migrations))) return false;
    const recorded = await this.options.appliedSql.read('view');
    return recorded.length === views.length && (await this.outdatedViews(views)).length === 0;
  }

  /** Applies the new migrations in order; returns their names. */
  async applyMigrations(files: readonly SqlFile[]): Promise<string[]> {
    const pending = pendingMigrations(files, await this.options.appliedSql.read('migration'), this.#where);
    for (const file of pending) {
      await this.#execute(
        'migration',
        file,
        fillPlaceholders(file.text, this.options.placeholders, `${file.name}.sql`),
      );
      await this.options.appliedSql.record('migration', [file]);
    }
    return pending.map((file) => file.name);
  }

  /**
   * Creates or replaces the views that are new or changed, or all of them; returns their names. They are recorded when all
   * are there: after a crash all of them are replaced again.
   */
  async applyViews(files: readonly ViewFile[], all = false): Promise<string[]> {
    const { placeholders, views } = this.options;
    const outdated = all ? files : await this.outdatedViews(files);
    const values = { ...placeholders.values, table_database: this.options.connection.database };
    for (const file of outdated) {
      const path = `${file.name}.sql`;
      const text = fillPlaceholders(file.text, { ...placeholders, values, database: this.#viewDatabase }, path);
      await this.#execute('view', file, views ? views.rewrite(text, path) : withoutGlobal(text));
    }
    await this.options.appliedSql.record('view', outdated);
    return outdated.map((file) => file.name);
  }

  async #execute(kind: 'migration' | 'view', file: SqlFile, text: string): Promise<void> {
    const { connection, signal } = this.options;
    const path = `${file.name}.sql`;
    const statements = splitStatements(text);
    if (kind === 'view') assertView(statements, this.#viewDatabase, file);
    for (const [i, statement] of statements.entries()) {
      signal.throwIfAborted();
      try {
        await connection.command(statement);
      } catch (error) {
        if (!(error instanceof StatementError) || error.retryable) throw error;
        throw new UsageError(`${path}, statement ${i + 1} of ${statements.length}: ${describeError(error)}`, {
          cause: error,
        });
      }
    }
  }

  /** Views that are new, changed, read a changed view, or do not exist in the database. */
  async outdatedViews(views: readonly ViewFile[]): Promise<ViewFile[]> {
    const recorded = new Map((await this.options.appliedSql.read('view')).map((a) => [a.name, a.checksum]));
    const existing = new Set(
      (
        await this.options.connection.query<{ name: string }>(
          "SELECT name FROM system.tables WHERE database = {database:String} AND engine = 'View'",
          { database: this.#viewDatabase },
        )
      ).map((row) => row.name),
    );
    return views.filter((view) => recorded.get(view.name) !== view.checksum || !existing.has(view.name));
  }

  async dropViewsWithoutFile(views: readonly ViewFile[]): Promise<string[]> {
    const known = new Set(views.map((view) => view.name));
    const gone = (await this.options.appliedSql.read('view')).filter((applied) => !known.has(applied.name));
    for (const { name } of gone) {
      await this.options.connection.command(`DROP VIEW IF EXISTS ${this.#viewDatabase}.${name} SYNC`);
    }
    const removed = gone.map(({ name }) => ({ name, checksum: '' }));
    await this.options.appliedSql.record('view', removed);
    return gone.map((applied) => applied.name);
  }

  get #where(): string {
    const { database, url } = this.options.connection;
    return `database ${database} at ${url}`;
  }

  get #viewDatabase(): string {
    return this.options.views?.database ?? this.options.connection.database;
  }
}

/** Compares the applied migrations with the files; returns those still to apply. */
function pendingMigrations(files: readonly SqlFile[], applied: readonly Applied[], where: string): SqlFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const { name, checksum, applied_at } of applied) {
    const file = byName.get(name);
    if (!file) {
      throw new UsageError(
        `${where} has migration ${name}.sql (applied on ${applied_at}), which this version of Chancery does not have; ` +
          'use the version that wrote the data or a newer one, or start with a new data folder (--data) or database (--database)',
      );
    }
    if (file.checksum !== checksum) {
      throw new UsageError(
        `${where} has another migration ${name}.sql (applied on ${applied_at}) than this version of Chancery; ` +
          'use the version that wrote the data, or start with a new data folder (--data) or database (--database)',
      );
    }
  }
  const last = applied.at(-1)?.name ?? '';
  const done = new Set(applied.map((a) => a.name));
  const pending = files.filter((file) => !done.has(file.name));
  const late = pending.find((file) => file.name < last);
  if (late) {
    throw new UsageError(
      `migration ${late.name}.sql comes before ${last}.sql, which is already applied to ${where}; give it a higher number`,
    );
  }
  return pending;
}

/** The file must be one statement that creates the view with the file's name. */
function assertView(statements: readonly string[], database: string, file: SqlFile): void {
  const begin = new RegExp(`^(\\s|--[^\\n]*\\n)*CREATE OR REPLACE VIEW ${database}\\.${file.name}\\b`);
  if (statements.length === 1 && begin.test(statements[0] ?? '')) return;
  throw new UsageError(
    `${file.name}.sql must be one statement that begins with CREATE OR REPLACE VIEW {database}.${file.name}`,
  );
}
