import { compare, type Difference } from '../pipeline/ledger.js';
import type { Rig } from '../pipeline/rig.js';

interface View {
  readonly target: string;
  readonly select: string;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Compares the target of every materialized view with the result of its SELECT over all rows that it reads. */
export async function compareStates(rig: Rig): Promise<Map<string, Difference>> {
  const views = await rig.rows<View>(`
    SELECT extract(create_table_query, ' TO [^.]+\\\\.([^ ]+) ') AS target, as_select AS select
    FROM system.tables WHERE database = 'chancery' AND engine = 'MaterializedView'`);
  const differences = new Map<string, Difference>();
  for (const { target, select } of views) {
    const columns = await rig.rows<Column>(`
      SELECT name, type FROM system.columns WHERE database = 'chancery' AND table = '${target}' ORDER BY position`);
    const keys = columns.filter(({ type }) => !/AggregateFunction\(/.test(type)).map(({ name }) => name);
    const merged = await texts(
      rig,
      columns,
      `SELECT ${columns.map(mergedValue).join(', ')} FROM ${target} GROUP BY ${keys.join(', ')}`,
    );
    const made = await texts(rig, columns, `SELECT ${columns.map(madeValue).join(', ')} FROM (${select})`);
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
