import { UsageError } from '../core/index.js';
import type { ExportedTable } from './exported-table.js';
import { shiftedDay, whyUnfinished } from './finished.js';
import type { LogPosition } from './positions.js';
import type { ExportRequest } from './request.js';
import type { ExportSource } from './source.js';
import { list } from './sql-text.js';
import {
  type Column,
  daysQuery,
  plainType,
  type RowRange,
  type Selection,
  type TableSchema,
  unwritableQuery,
} from './statement.js';
import type { TableColumns } from './table-columns.js';
import { sortOrder, tablesOf } from './tables.js';

export interface PlannedFile {
  /** Within the folder of the export. */
  readonly path: string;
  readonly table: string;
  readonly day: string;
  /** Only for a file of one market. */
  readonly symbol?: string;
  readonly rows: number;
  /** Whether rows of the day may still arrive. */
  readonly unfinished?: true;
}

export interface DayLeftOut {
  readonly day: string;
  readonly why: string;
}

/** Everything that an export reads and writes, fixed before it begins. */
export interface Plan {
  /** When it was made, ISO 8601. */
  readonly madeAt: string;
  readonly positions: readonly LogPosition[];
  /** Absent: all events and markets. */
  readonly selection?: Selection | undefined;
  readonly files: readonly PlannedFile[];
  readonly leftOut: readonly DayLeftOut[];
  readonly schemas: readonly TableSchema[];
}

interface Planned {
  readonly source: ExportSource;
  readonly request: ExportRequest;
  readonly columns: TableColumns;
}

/** What an export takes, without the number of rows of tables in which rows are replaced. */
export async function makePlan(
  { source, request, columns }: Planned,
  positions: readonly LogPosition[],
  nowMs: number,
  signal: AbortSignal,
): Promise<Plan> {
  const selection = await selectionOf(source, request, signal);
  await assertAccounts(source, request, signal);
  const files: PlannedFile[] = [];
  const evidence: PlannedFile[] = [];
  const schemas: TableSchema[] = [];
  const leftOut = new Map<string, string>();
  const unwritable: DayLeftOut[] = [];
  let lastDay = '';
  for (const table of tablesOf(request)) {
    const described = await columns.of(table);
    const range = { table, request, columns: described, positions, selection };
    if (!table.lines) schemas.push(schemaOf(table, described));
    const days = await source.rows<DayRows>(daysQuery(range), signal);
    for (const counted of days) {
      const { day } = counted;
      // An event that nobody polls any more is open until now: coverage of days without records.
      if (table.view && !table.lines && lastDay !== '' && day > lastDay) continue;
      if (!table.view && day > lastDay) lastDay = day;
      const why = whyUnfinished(day, positions, request.finishedAfterHours, nowMs);
      const file = plannedFile(table, counted, request, why !== undefined);
      const isRequested = request.to === undefined || day <= request.to;
      if (isRequested && (why === undefined || request.unfinished)) files.push(file);
      else if (table.evidence) evidence.push(file);
      if (isRequested && why !== undefined && !request.unfinished) leftOut.set(day, why);
    }
    unwritable.push(...(await unwritableRows(source, range, signal)));
  }
  const isExported = (day: string) => files.some((file) => file.day === day);
  files.push(...evidence.filter(({ day }) => !isExported(day) && isExported(shiftedDay(day, -1))));
  const days = [...[...leftOut].map(([day, why]) => ({ day, why })), ...unwritable];
  days.sort((a, b) => a.day.localeCompare(b.day));
  return { madeAt: new Date(nowMs).toISOString(), positions, selection, files, leftOut: days, schemas };
}

/** Number of rows of a day, and of a market if the table has a file for each. */
interface DayRows {
  readonly day: string;
  readonly symbol?: string;
  readonly rows: number;
}

function plannedFile(
  table: ExportedTable,
  { day, symbol, rows }: DayRows,
  { format, exchangeName = '' }: ExportRequest,
  unfinished: boolean,
): PlannedFile {
  const name = symbol === undefined ? `${day}.${format}` : `${exchangeName}_${table.name}_${day}_${symbol}.csv.gz`;
  const own = { path: `${table.name}/${name}`, table: table.name, day, ...(symbol !== undefined && { symbol }) };
  return { ...own, rows, ...(unfinished && { unfinished }) };
}

/** Rows of the requested days that the format cannot say. */
async function unwritableRows(source: ExportSource, range: RowRange, signal: AbortSignal): Promise<DayLeftOut[]> {
  const { what } = range.table.lines?.unwritable ?? {};
  if (what === undefined) return [];
  const { from = '', to = '9' } = range.request;
  const days = await source.rows<DayRows>(unwritableQuery(range), signal);
  const requested = days.filter(({ day }) => day >= from && day <= to);
  return requested.map(({ day, rows }) => ({ day, why: `${rows} ${range.table.name} ${what}` }));
}

function schemaOf(table: ExportedTable, columns: readonly Column[]): TableSchema {
  return {
    name: table.name,
    columns: columns.map(({ type, ...column }) => ({ ...column, type: plainType(type) })),
    sort_order: sortOrder(table),
    time: table.time,
    positions: table.view === undefined,
  };
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
