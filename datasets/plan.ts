import { UsageError } from '../core/index.js';
import { whyUnfinished } from './finished.js';
import type { LogPosition } from './positions.js';
import { type ExportRequest, tablesOf } from './request.js';
import type { ExportSource } from './source.js';
import { list } from './sql-text.js';
import { type Column, daysQuery, type Selection } from './statement.js';
import type { ExportedTable } from './tables.js';

export interface PlannedFile {
  /** Within the folder of the export. */
  readonly path: string;
  readonly table: string;
  readonly day: string;
  readonly rows: number;
}

export interface DayLeftOut {
  readonly day: string;
  readonly why: string;
}

/** Everything that an export reads and writes, fixed before it begins. */
export interface Plan {
  readonly positions: readonly LogPosition[];
  /** Absent: all events and markets. */
  readonly selection?: Selection | undefined;
  readonly files: readonly PlannedFile[];
  readonly leftOut: readonly DayLeftOut[];
}

/** What an export takes, without the number of rows of tables in which rows are replaced. */
export async function makePlan(
  source: ExportSource,
  request: ExportRequest,
  positions: readonly LogPosition[],
  nowMs: number,
  signal: AbortSignal,
): Promise<Plan> {
  const selection = await selectionOf(source, request, signal);
  await assertAccounts(source, request, signal);
  const files: PlannedFile[] = [];
  const leftOut = new Map<string, string>();
  for (const table of tablesOf(request)) {
    const columns = await columnsOf(source, table, signal);
    const query = daysQuery({ table, columns, positions, selection }, request);
    for (const { day, rows } of await source.rows<{ day: string; rows: number }>(query, signal)) {
      const why = whyUnfinished(day, positions, request.settleHours, nowMs);
      if (why !== undefined && !request.unfinished) leftOut.set(day, why);
      else files.push({ path: `${table.name}/${day}.${request.format}`, table: table.name, day, rows });
    }
  }
  const days = [...leftOut].map(([day, why]) => ({ day, why })).sort((a, b) => a.day.localeCompare(b.day));
  return { positions, selection, files, leftOut: days };
}

/** @throws UsageError for an account of which nothing was recorded */
async function assertAccounts(source: ExportSource, { accounts = [] }: ExportRequest, signal: AbortSignal) {
  if (accounts.length === 0) return;
  const recorded = await source.rows<{ account: string }>(
    "SELECT DISTINCT account FROM account_pages WHERE account != '' ORDER BY account",
    signal,
  );
  const names = recorded.map(({ account }) => account);
  const unknown = accounts.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const known = names.length === 0 ? 'none is' : `recorded are ${names.join(', ')}`;
  throw new UsageError(`nothing was recorded of account ${unknown}: ${known}`);
}

/** The columns that are written, in the order of the table. */
export async function columnsOf(source: ExportSource, table: ExportedTable, signal: AbortSignal): Promise<Column[]> {
  const columns = await source.rows<Column>(
    `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '${table.name}'
     AND default_kind != 'ALIAS' ORDER BY position`,
    signal,
  );
  if (columns.length === 0) {
    throw new UsageError(`there is no table ${table.name}; \`chancery migrate\` creates the tables of this version`);
  }
  return columns.filter(({ name }) => !table.omitted?.includes(name));
}

/** @throws UsageError when no recorded market matches */
async function selectionOf(
  source: ExportSource,
  { events, markets, categories, tags }: ExportRequest,
  signal: AbortSignal,
): Promise<Selection | undefined> {
  const ofEvent = [
    ...(categories ? [`category IN ${list(categories)}`] : []),
    ...(tags ? [`hasAny(tags, [${list(tags).slice(1, -1)}])`] : []),
  ];
  const conditions = [
    ...(events ? [`event IN ${list(events)}`] : []),
    ...(markets ? [`market IN ${list(markets)}`] : []),
    ...(ofEvent.length > 0 ? [`event IN (SELECT event FROM event_observations WHERE ${ofEvent.join(' AND ')})`] : []),
  ];
  if (conditions.length === 0) return undefined;
  const query = `SELECT DISTINCT event, market FROM market_observations WHERE ${conditions.join(' AND ')} ORDER BY event, market`;
  const found = await source.rows<{ event: string; market: string }>(query, signal);
  if (found.length === 0) throw new UsageError('no recorded market matches --event, --market, --category and --tag');
  return { events: [...new Set(found.map(({ event }) => event))], markets: found.map(({ market }) => market) };
}
