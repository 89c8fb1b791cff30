import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../core/index.js';
import type { Connection } from '../connection.js';
import { quoteText } from '../connection.js';
import { StatementError, UNKNOWN_TABLE } from '../errors.js';

const TABLE_ALREADY_EXISTS = 57;
const HEARTBEAT_MS = 2000;
/** A lock without a heartbeat for this long is taken over. */
const EXPIRY_MS = 10_000;

/**
 * Runs `work` while no other process does so in this database. The lock is a table: only one process can create it, and
 * heartbeats in its comment show that the holder is running. It only avoids duplicate work of processes that start
 * together: the work must be idempotent anyway.
 */
export async function withMigrationLock<T>(
  connection: Connection,
  work: () => Promise<T>,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<T> {
  const table = `${connection.database}.migration_lock`;
  const holder = randomUUID();
  await acquire(connection, table, holder, signal, clock);
  let heartbeats = 0;
  const timer = setInterval(() => {
    heartbeats += 1;
    connection
      .command(`ALTER TABLE ${table} MODIFY COMMENT ${quoteText(`${holder} ${heartbeats}`)}`)
      .catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    const mine = (await commentOf(connection))?.startsWith(holder);
    if (mine) await connection.command(`DROP TABLE IF EXISTS ${table} SYNC`);
  }
}

async function acquire(
  connection: Connection,
  table: string,
  holder: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  let seen: string | undefined;
  let seenAt = clock.elapsedMs();
  for (;;) {
    signal.throwIfAborted();
    try {
      await connection.command(
        `CREATE TABLE ${table} (held UInt8) ENGINE = Memory COMMENT ${quoteText(`${holder} 0`)}`,
      );
      return;
    } catch (error) {
      if (!(error instanceof StatementError) || error.code !== TABLE_ALREADY_EXISTS) throw error;
    }
    const comment = await commentOf(connection);
    if (comment !== seen) {
      seen = comment;
      seenAt = clock.elapsedMs();
    } else if (clock.elapsedMs() - seenAt > EXPIRY_MS) {
      await connection.command(`DROP TABLE IF EXISTS ${table} SYNC`).catch((error: unknown) => {
        if (!(error instanceof StatementError) || error.code !== UNKNOWN_TABLE) throw error;
      });
    }
    await clock.sleep(100, signal);
  }
}

async function commentOf(connection: Connection): Promise<string | undefined> {
  const rows = await connection.query<{ comment: string }>(
    "SELECT comment FROM system.tables WHERE database = {database:String} AND name = 'migration_lock'",
    { database: connection.database },
  );
  return rows[0]?.comment;
}
