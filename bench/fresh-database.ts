import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClickHouseEndpoint, Connection, migrate } from '../warehouse/index.js';
import { POLL_MS } from './visible-rows.js';

const DAY_SECONDS = 86_400;
const MERGE_TIMEOUT_MS = 60_000;

/**
 * Calls `run` with a new database. Afterwards its merges are stopped and its files are left in place: on ext4, creating
 * files is slow for minutes after thousands were deleted, which would slow the next measurement.
 */
export async function inFreshDatabase<T>(
  endpoint: ClickHouseEndpoint,
  fsync: boolean,
  run: (connection: Connection) => Promise<T>,
): Promise<T> {
  const database = `bench_${randomUUID().replaceAll('-', '')}`;
  const connection = new Connection({ endpoint, database, application: 'chancery bench' });
  try {
    await connection.command(`CREATE DATABASE ${database}`);
    await migrate(connection, { fsync }, new AbortController().signal);
    const result = await run(connection);
    await stopMerges(connection);
    return result;
  } finally {
    await connection.close();
  }
}

/** Stops the merges of its tables, and leaves merged parts in place, which ClickHouse deletes after eight minutes by default. */
async function stopMerges(connection: Connection): Promise<void> {
  const { database } = connection;
  const tables = await connection.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = '${database}' AND engine LIKE '%MergeTree'`,
  );
  for (const { name } of tables) {
    await connection.command(`SYSTEM STOP MERGES ${database}.${name}`);
    await connection.command(`ALTER TABLE ${database}.${name} MODIFY SETTING old_parts_lifetime = ${DAY_SECONDS}`);
  }
  const merging = `SELECT count() AS merges FROM system.merges WHERE database = '${database}'`;
  const deadline = performance.now() + MERGE_TIMEOUT_MS;
  while ((await connection.query<{ merges: number }>(merging))[0]?.merges !== 0) {
    if (performance.now() > deadline)
      throw new Error(`${database} still merges ${MERGE_TIMEOUT_MS / 1000} s after its run`);
    await sleep(POLL_MS);
  }
}
