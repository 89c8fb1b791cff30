import { type Connection, quoteName } from '../connection.js';

/** Sets fsync of existing tables as configured now; they may have been created with another setting. */
export async function alignTableSettings(connection: Connection, fsync: boolean): Promise<void> {
  const wanted = fsync ? 1 : 0;
  const tables = await connection.query<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = {database:String} AND endsWith(engine, 'MergeTree') AND position(engine_full, {other:String}) > 0 ORDER BY name`,
    { database: connection.database, other: `fsync_after_insert = ${fsync ? 0 : 1}` },
  );
  for (const { name } of tables) {
    if (name === 'applied_sql') continue;
    await connection.command(
      `ALTER TABLE ${connection.database}.${quoteName(name)}
       MODIFY SETTING fsync_after_insert = ${wanted}, fsync_part_directory = ${wanted}`,
    );
  }
}
