import { customValues, expandQuery, relativeRange, type VariableChoice } from '../../viewer/index.js';
import type { ClickHouseEndpoint } from '../../warehouse/index.js';
import { askAsGrafana } from './answer.js';
import type { Dashboard } from './shipped-dashboards.js';

/** The values that Grafana selects when a dashboard is opened: the default, or the first value of a variable's query. */
export async function chooseVariables(
  reader: ClickHouseEndpoint,
  { templating, time }: Dashboard,
): Promise<ReadonlyMap<string, VariableChoice>> {
  const chosen = new Map<string, VariableChoice>();
  for (const variable of templating.list) {
    if (variable.type === 'datasource') continue;
    let options: string[];
    if (variable.type === 'custom') {
      options = customValues(variable.query).map(({ value }) => value);
    } else if (variable.type === 'textbox') {
      options = [variable.query];
    } else {
      const range = relativeRange(time.from, time.to, new Date());
      const sql = expandQuery(variable.query.rawSql, { range, bucketMs: 1000, variables: chosen });
      options = (await askAsGrafana(reader, sql)).rows.map(([value]) => String(value));
    }
    chosen.set(variable.name, { value: variable.current?.value ?? options[0] ?? '', options });
  }
  return chosen;
}
