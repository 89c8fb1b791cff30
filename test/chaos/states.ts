import { compare, type Difference } from '../pipeline/ledger.js';
import type { Rig } from '../pipeline/rig.js';

interface Target {
  readonly target: string;
  /** The SELECTs of the views that fill it, with the same columns. */
  readonly selects: readonly string[];
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Compares the targets of all materialized views with the results of their SELECTs over all rows that these read. */
export async function compareStates(rig: Rig): Promise<Map<string, Difference>> {
  const targets = await rig.rows<Target>(`
    SELECT extract(create_table_query, ' TO [^.]+\\\\.([^ ]+) ') AS target, groupArray(as_select) AS selects
    FROM system.tables WHERE database = 'chancery' AND engine = 'MaterializedView' GROUP BY target`);
  const differences = new Map<string, Difference>();
  for (const { target, selects } of targets) {
    const columns = await rig.rows<Column>(`
      SELECT name, type FROM system.columns WHERE database = 'chancery' AND table = '${target}' ORDER BY position`);
    const keys = columns.filter(({ type }) => !/AggregateFunction\(/.test(type)).map(({ name }) => name);
    const merged = await texts(
      rig,
      columns,
      `SELECT ${columns.map(mergedValue).join(', ')} FROM ${target} GROUP BY ${keys.join(', ')}`,
    );
    const rows = selects.join(' UNION ALL ');
    const made = await texts(rig, columns, `SELECT ${columns.map(madeValue).join(', ')} FROM (${rows})`);
    differences.set(target, compare(merged, new Set(made)));
  }
  return differences;
}

async function texts(rig: Rig, columns: readonly Column[], sql: string): Promise<string[]> {
  const names = columns.map(({ name }) => `v_${name}`).join(', ');
  const rows = await rig.rows<{ row: string }>(`SELECT toString(tuple(${names})) AS row FROM (${sql})`);
  return rows.map(({ row }) => row);
}

/** `SimpleAggregateFunction(max, …)` is merged by max, `AggregateFunction(argMax, …)` by argMaxMerge. */
function mergedValue({ name, type }: Column): string {
  const simple = /^SimpleAggregateFunction\((\w+)/.exec(type)?.[1];
  const state = /^AggregateFunction\((\w+)/.exec(type)?.[1];
  const value = simple ? `${simple}(${name})` : state ? `${state}Merge(${name})` : name;
  return `${value} AS v_${name}`;
}

const madeValue = ({ name, type }: Column): string =>
  `${type.startsWith('AggregateFunction(') ? `finalizeAggregation(${name})` : name} AS v_${name}`;
