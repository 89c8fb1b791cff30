import type { Connection } from '../connection.js';
import { StatementError, UNKNOWN_DATABASE, UNKNOWN_TABLE } from '../errors.js';

export interface Applied {
  readonly name: string;
  readonly checksum: string;
  readonly applied_at: string;
}

/** The migrations and views that were applied to a database, stored in its table `applied_sql`. */
export class AppliedSql {
  constructor(private readonly connection: Connection) {}

  async create(): Promise<void> {
    const { connection } = this;
    await connection.command(`CREATE DATABASE IF NOT EXISTS ${connection.database}`);
    await connection.command(`
      CREATE TABLE IF NOT EXISTS ${connection.database}.applied_sql (
        kind Enum8('migration' = 1, 'view' = 2) COMMENT 'migration: applied once; view: replaced when its file changes',
        name String COMMENT 'File name without .sql',
        checksum String COMMENT 'SHA-256 of what was applied; empty when a view was removed',
        applied_at DateTime64(6, 'UTC') COMMENT 'When it was applied'
      ) ENGINE = ReplacingMergeTree(applied_at) ORDER BY (kind, name)
      SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
      COMMENT 'Which SQL files were applied to this database, and their checksums'`);
  }

  /** In the order of names; empty when nothing was applied. */
  async read(kind: 'migration' | 'view'): Promise<Applied[]> {
    try {
      return await this.connection.query<Applied>(
        `SELECT name, checksum, toString(applied_at) AS applied_at FROM ${this.connection.database}.applied_sql FINAL
         WHERE kind = {kind:String} AND checksum != '' ORDER BY name`,
        { kind },
      );
    } catch (error) {
      if (error instanceof StatementError && [UNKNOWN_TABLE, UNKNOWN_DATABASE].includes(error.code)) return [];
      throw error;
    }
  }

  /** In one insert: an insert costs more than most of the statements that it records. */
  async record(kind: 'migration' | 'view', applied: readonly Pick<Applied, 'name' | 'checksum'>[]): Promise<void> {
    if (applied.length === 0) return;
    const names = applied.map(({ name }) => name);
    const checksums = applied.map(({ checksum }) => checksum);
    await this.connection.command(
      `INSERT INTO ${this.connection.database}.applied_sql (kind, name, checksum, applied_at)
       SELECT {kind:String}, name, checksum, now64(6)
       FROM (SELECT 1) ARRAY JOIN {names:Array(String)} AS name, {checksums:Array(String)} AS checksum`,
      { params: { kind, names, checksums }, settings: { async_insert: 0 } },
    );
  }
}
