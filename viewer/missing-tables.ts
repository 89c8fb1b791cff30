import { ClickHouseError } from '@clickhouse/client';
import { UnavailableError } from '../core/index.js';
import { QueryError } from './database.js';

/** ClickHouse's codes when a table or a database does not exist. */
const MISSING = new Set(['60', '81']);

/**
 * The result of a query of Chancery's own views.
 * @throws UnavailableError where they have not been created: the first worker of a new instance does that
 */
export async function ofExistingTables<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const { cause } = error as Error;
    if (!(error instanceof QueryError && cause instanceof ClickHouseError && MISSING.has(cause.code))) throw error;
    throw new UnavailableError('ClickHouse has no tables of Chancery yet; a worker creates them when it starts', {
      cause: error,
    });
  }
}
