import type { ClickHouseClient } from '@clickhouse/client';

export interface TableSize {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Rows and bytes on disk of every table of the database that holds data. */
export async function tableSizes(client: ClickHouseClient, database: string): Promise<TableSize[]> {
  const answer = await client.query({
    query: `
      SELECT name, toFloat64(total_rows) AS rows, toFloat64(total_bytes) AS bytes
      FROM system.tables
      WHERE database = {database:String} AND engine LIKE '%MergeTree'
      ORDER BY name`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  return answer.json<TableSize>();
}
