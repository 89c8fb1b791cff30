import { TRANSFORM_TABLES } from '../../transforms/index.js';

/** Of a table: its rows, their distinct positions or IDs, and a checksum of their values. */
export interface TableContent {
  readonly table: string;
  readonly rows: number;
  readonly keys: number;
  readonly checksum: string;
}

/**
 * A SELECT of the contents of all tables that workers fill, apart from `lost_ranges`, and of `order_states`,
 * which has what later observations replaced: two states of a database with equal
 * contents have the same rows, and `keys` is `rows` when none is duplicated.
 */
export function tableContents(database: string): string {
  const orders = `SELECT 'order_states' AS table, count() AS rows, rows AS keys,
    toString(sum(cityHash64(toString(tuple(*))))) AS checksum FROM ${database}.order_states FINAL`;
  const filled = TRANSFORM_TABLES.filter(({ name }) => name !== 'lost_ranges').map((table) => {
    const topic = table.columns.some(({ name }) => name === '_topic') ? ['_topic'] : [];
    const key = table.kind === 'log' ? [...topic, '_log', '_partition', '_offset', '_index'] : table.id;
    const final = table.kind === 'log' ? '' : ' FINAL';
    return `SELECT '${table.name}' AS table, count() AS rows, uniqExact(${key.join(', ')}) AS keys,
        toString(sum(cityHash64(toString(tuple(* EXCEPT written_at))))) AS checksum FROM ${database}.${table.name}${final}`;
  });
  return [...filled, orders].join(' UNION ALL ');
}
