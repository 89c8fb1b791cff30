import { createLogger, describeError, type Settings, UnavailableError, untilAborted } from '../../core/index.js';
import { findMissingRows } from '../../transforms/index.js';
import { type ShardConnection, StatementError } from '../../warehouse/index.js';
import { openWarehouse } from '../service/database.js';
import { openBusReadOnly } from '../service/instance.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';
import { findDamagedParts } from './damaged-parts.js';

const RESPONSE_TIMEOUT_MS = 8000;

/** Whether ClickHouse has the rows that the committed offsets of the workers say are stored. */
export const rowsCheck = (settings: Settings): Check => ({ name: 'ClickHouse rows', run: () => rows(settings) });

async function rows(settings: Settings): Promise<Finding> {
  const bus = openBusReadOnly(settings, createLogger({ service: 'doctor', level: 'fatal' }));
  if (!bus) return ok('nothing was recorded yet');
  const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  try {
    const warehouse = await openWarehouse(settings, 'chancery doctor');
    try {
      const found = findMissingRows(bus, settings.group, warehouse.shards, signal);
      const missing = await untilAborted(found, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (!missing) return ok(`not compared: the bus did not respond within ${RESPONSE_TIMEOUT_MS / 1000} s`);
      const [first] = missing;
      if (!first) return await damage(warehouse.shards, signal);
      return fail(
        `missing in ClickHouse for ${missing.length} partitions; for ${first.topic}/${first.partition} those before ` +
          `offset ${first.before}: ${first.cause}`,
        '`chancery transform --rebuild` writes them again from the bus; with --accept-loss workers continue without them',
      );
    } finally {
      await warehouse.close();
    }
  } catch (error) {
    if (error instanceof UnavailableError) return ok(`not compared: ${describeError(error)}`);
    throw error;
  } finally {
    await bus.close();
  }
}

/** Call when the last batch of every partition is there: parts before it may be damaged. */
async function damage(shards: readonly ShardConnection[], signal: AbortSignal): Promise<Finding> {
  const complete = 'the last batch of every partition is in the database that it was written to';
  try {
    const parts = await findDamagedParts(shards, signal);
    if (parts.length === 0) return ok(complete);
    return fail(
      `ClickHouse set ${parts.length} damaged parts aside when it started; no query has the rows that only these have: ${parts[0]}`,
      'restore a backup, or begin with an empty database and `--rebuild`, which writes what the bus still has',
    );
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    return warn(
      `${complete}; whether parts before it are damaged is not known: ${describeError(error)}`,
      'grant SELECT on system.detached_parts to the user of --clickhouse-user',
    );
  }
}
