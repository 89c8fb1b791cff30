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

export interface Freshness {
  /** Age of the newest price tick, seconds; undefined when there is none of the last hour. */
  readonly newestSeconds: number | undefined;
}

/** How old the newest recorded price is. */
export async function freshness(client: ClickHouseClient, database: string): Promise<Freshness> {
  const answer = await client.query({
    query: `
      SELECT dateDiff('microsecond', max(received_at), now64(6)) / 1e6 AS age, count() AS ticks
      FROM {database:Identifier}.price_ticks
      WHERE received_at > now64(6) - INTERVAL 1 HOUR`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ age: number; ticks: number | string }>();
  return { newestSeconds: row && Number(row.ticks) > 0 ? Math.max(0, row.age) : undefined };
}
