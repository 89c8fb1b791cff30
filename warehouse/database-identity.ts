import type { ShardConnection } from './cluster/shard-connection.js';
import { quoteName } from './connection.js';
import { StatementError, UNKNOWN_DATABASE, UNKNOWN_TABLE } from './errors.js';

const TABLE = 'database_identity';

/**
 * The identities of a shard's database, the first one first; none before the migrations. There are several if several
 * workers created the first one at the same moment. A restored backup has those of the original; a new database has others.
 */
export async function databaseIdentities(shard: ShardConnection, signal?: AbortSignal): Promise<string[]> {
  try {
    const rows = await shard.query<{ id: string }>(
      `SELECT toString(id) AS id FROM ${nameIn(shard)} ORDER BY created_at, id`,
      {},
      signal,
      { upToDate: [TABLE] },
    );
    return rows.map((row) => row.id);
  } catch (error) {
    if (error instanceof StatementError && [UNKNOWN_TABLE, UNKNOWN_DATABASE].includes(error.code)) return [];
    throw error;
  }
}

/** As `databaseIdentities`; creates one in a database without any. */
export async function ensureDatabaseIdentity(shard: ShardConnection, signal: AbortSignal): Promise<string[]> {
  const known = await databaseIdentities(shard, signal);
  if (known.length > 0) return known;
  await shard.command(`INSERT INTO ${nameIn(shard)} (id, created_at) SELECT generateUUIDv4(), now64(6)`, {
    settings: { async_insert: 0 },
    signal,
  });
  return databaseIdentities(shard, signal);
}

const nameIn = (shard: ShardConnection): string => `${quoteName(shard.database)}.${TABLE}`;
