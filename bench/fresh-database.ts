import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClickHouseEndpoint, Connection, migrate } from '../warehouse/index.js';
import { LOOK_MS } from './rate-clock.js';

const DAY_SECONDS = 86_400;
const QUIET_WITHIN_MS = 60_000;

/**
 * Runs it on a fresh database, of which nothing goes on afterwards and all files stay: on ext4, after thousands of files
 * were deleted, new ones are slow to come by for minutes, and that would slow whatever is measured next.
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
    await quieten(connection);
    return result;
  } finally {
    await connection.close();
  }
}

/** Ends the merges of its tables, and keeps the parts that were merged, which are deleted after eight minutes otherwise. */
async function quieten(connection: Connection): Promise<void> {
  const { database } = connection;
  const tables = await connection.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = '${database}' AND engine LIKE '%MergeTree'`,
  );
  for (const { name } of tables) {
    await connection.command(`SYSTEM STOP MERGES ${database}.${name}`);
    await connection.command(`ALTER TABLE ${database}.${name} MODIFY SETTING old_parts_lifetime = ${DAY_SECONDS}`);
  }
  const merging = `SELECT count() AS merges FROM system.merges WHERE database = '${database}'`;
  const deadline = performance.now() + QUIET_WITHIN_MS;
  while ((await connection.query<{ merges: number }>(merging))[0]?.merges !== 0) {
    if (performance.now() > deadline)
      throw new Error(`${database} still merges ${QUIET_WITHIN_MS / 1000} s after its run`);
    await sleep(LOOK_MS);
  }
}
