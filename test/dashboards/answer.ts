import { cpuSeconds } from '../../bench/process-usage.js';
import { type Frame, frameOf } from '../../viewer/frames.js';
import type { ClickHouseEndpoint, EmbeddedEndpoint } from '../../warehouse/index.js';
import type { Panel } from './shipped-dashboards.js';

export type ColumnKind = 'time' | 'number' | 'text' | 'other';

/** The result of one query, as Grafana gets it. */
export interface Answer {
  readonly columns: readonly { readonly name: string; readonly type: string; readonly kind: ColumnKind }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly elapsedMs: number;
}

/**
 * Queries as Grafana's data source does: as the reader, with the database as default, and with the time limit that its
 * driver sends with every query: that of the data source plus five seconds.
 */
export async function askAsGrafana(reader: ClickHouseEndpoint, sql: string, queryTimeoutSeconds = 30): Promise<Answer> {
  const settings = new URLSearchParams({
    database: 'chancery',
    max_execution_time: String(queryTimeoutSeconds + 5),
    default_format: 'JSONCompact',
    output_format_json_quote_64bit_integers: '0',
    wait_end_of_query: '1',
  });
  const startedAt = performance.now();
  const response = await fetch(`${reader.url}/?${settings}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': reader.user, 'X-ClickHouse-Key': reader.password.reveal(), connection: 'close' },
    body: sql,
  });
  const text = await response.text();
  const elapsedMs = performance.now() - startedAt;
  if (!response.ok) throw new Error(`${text.trim()}\n\n${sql}`);
  const { meta, data } = JSON.parse(text) as { meta: { name: string; type: string }[]; data: unknown[][] };
  return { columns: meta.map((column) => ({ ...column, kind: kindOf(column.type) })), rows: data, elapsedMs };
}

/**
 * Queries as the reader and measures the duration. On a busy machine the processor time of the server counts, for this and
 * concurrent queries.
 */
export async function askTimed(
  { reader, pid }: EmbeddedEndpoint,
  sql: string,
): Promise<{ answer: Answer; ms: number }> {
  const before = processorMs(pid);
  const answer = await askAsGrafana(reader, sql);
  const used = processorMs(pid) - before;
  return { answer, ms: Number.isNaN(used) ? answer.elapsedMs : Math.min(answer.elapsedMs, used) };
}

/** Processor time of a process, milliseconds; NaN where the operating system does not report it. */
function processorMs(pid: number): number {
  try {
    return cpuSeconds(pid) * 1000;
  } catch {
    return Number.NaN;
  }
}

/** The plugin's kind of a ClickHouse type; `other` (arrays, tuples, maps) is shown as JSON and fits no panel. */
function kindOf(type: string): ColumnKind {
  const bare = type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Nullable\((.*)\)$/, '$1');
  if (/^Date(Time)?(64|32)?(\(|$)/.test(bare)) return 'time';
  if (/^(U?Int|Float|Decimal)/.test(bare)) return 'number';
  return /^(String|FixedString|Enum|UUID|Bool)/.test(bare) ? 'text' : 'other';
}

/** What the viewer draws of the answers to a panel's queries. */
export function framesOf({ targets }: Pick<Panel, 'targets'>, answers: readonly Answer[]): Frame[] {
  return answers.map(({ columns, rows }, i) => {
    const { refId = 'A', queryType } = targets[i] ?? {};
    return frameOf(refId, { meta: columns, data: rows }, 'UTC', queryType === 'timeSeries');
  });
}

export function valuesOf({ columns, rows }: Answer, name: string): unknown[] {
  const index = columns.findIndex((column) => column.name === name);
  if (index < 0) throw new Error(`there is no column ${name} among ${columns.map((c) => c.name).join(', ')}`);
  return rows.map((row) => row[index]);
}
