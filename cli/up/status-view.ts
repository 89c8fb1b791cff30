import { printable } from '../../core/index.js';
import { columns, formatCount, formatSeconds } from '../format.js';
import type { ProcessState } from './supervised-process.js';

export interface ServiceLine {
  readonly name: string;
  /** `external`: not started by this instance. */
  readonly state: ProcessState | 'external';
  readonly address: string;
  /** Short description. */
  readonly about: string;
}

export interface TableLine {
  readonly name: string;
  readonly rows: number;
  /** Recent rate, rows per second. */
  readonly perSecond: number;
}

/** The data of the status view of `chancery up`. */
export interface StatusViewState {
  readonly version: string;
  readonly dataFolder: string;
  readonly services: readonly ServiceLine[];
  readonly tables: readonly TableLine[];
  /** Number of records on the bus that are not in ClickHouse yet; undefined if unknown. */
  readonly waiting: number | undefined;
  /** Age of the newest row, seconds. */
  readonly newestSeconds: number | undefined;
  readonly deadLetters: number | undefined;
  /** Address of the viewer. */
  readonly viewerUrl: string;
  /** ClickHouse's web console. */
  readonly consoleUrl: string;
  /** A command with a first query. */
  readonly question: string;
}

/** Text styles of a terminal, or none. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

/** Maximum number of tables listed in the view and in a progress line. */
const MAX_TABLES = 9;
const MAX_TABLES_IN_LINE = 5;

const ESC = String.fromCharCode(27);
const sgr = (code: number) => (text: string) => `${ESC}[${code}m${text}${ESC}[0m`;
const asIs = (text: string) => text;
export const COLOURS: Paint = { bold: sgr(1), dim: sgr(2), good: sgr(32), bad: sgr(31) };
export const PLAIN: Paint = { bold: asIs, dim: asIs, good: asIs, bad: asIs };

/** The status view as lines. */
export function statusView(state: StatusViewState, paint: Paint): string[] {
  return [
    '',
    `${paint.bold(`Chancery ${state.version}`)}  ${paint.dim('data folder')} ${printable(state.dataFolder)}`,
    '',
    `  ${paint.dim('open')}   ${state.viewerUrl}`,
    '',
    ...serviceLines(state, paint),
    '',
    ...tableLines(state, paint),
    '',
    `  ${paint.dim('SQL')}    ${state.consoleUrl}`,
    `  ${paint.dim('ask')}    ${state.question}`,
    `  ${paint.dim('stop')}   Ctrl-C`,
  ];
}

/** One line for a log: what has been recorded so far. */
export function progressLine(state: StatusViewState): string {
  const rows = state.tables.reduce((sum, table) => sum + table.rows, 0);
  const perSecond = state.tables.reduce((sum, table) => sum + table.perSecond, 0);
  const tables = largest(state.tables, MAX_TABLES_IN_LINE).map((table) => `${table.name} ${formatCount(table.rows)}`);
  const down = state.services
    .filter((service) => !isFine(service))
    .map((service) => `${service.name} ${service.state}`);
  return [
    `recorded ${formatCount(rows)} rows (+${formatCount(Math.round(perSecond))}/s): ${tables.join(', ') || 'nothing yet'}`,
    ...quality(state),
    ...down,
  ].join('; ');
}

function serviceLines({ services }: StatusViewState, paint: Paint): string[] {
  const lines = columns(
    services.map((service) => [service.name, service.state, service.address, service.about].map(printable)),
  );
  return lines.map((line, i) => {
    const service = services[i];
    if (!service) return line;
    return `  ${line.replace(service.state, (isFine(service) ? paint.good : paint.bad)(service.state))}`;
  });
}

function isFine({ state }: ServiceLine): boolean {
  return state === 'ready' || state === 'external';
}

function tableLines(state: StatusViewState, paint: Paint): string[] {
  if (state.tables.length === 0) return [`  ${paint.dim('nothing recorded yet')}`];
  const rows = columns(
    largest(state.tables, MAX_TABLES).map((t) => [printable(t.name), formatCount(t.rows), rate(t.perSecond)]),
    [1, 2],
  );
  return [...rows.map((row) => `  ${row}`), `  ${paint.dim(quality(state).join(' · '))}`];
}

/** The largest tables first; the rest is summed in one line. */
function largest(tables: readonly TableLine[], max: number): TableLine[] {
  const sorted = [...tables].sort((a, b) => b.rows - a.rows || a.name.localeCompare(b.name));
  if (sorted.length <= max) return sorted;
  const others = sorted.slice(max - 1);
  const sum = (of: (table: TableLine) => number) => others.reduce((total, table) => total + of(table), 0);
  const rest = { name: `${others.length} others`, rows: sum((t) => t.rows), perSecond: sum((t) => t.perSecond) };
  return [...sorted.slice(0, max - 1), rest];
}

function rate(perSecond: number): string {
  const rounded = Math.round(perSecond);
  return rounded > 0 ? `+${formatCount(rounded)}/s` : '';
}

function quality({ waiting, newestSeconds, deadLetters }: StatusViewState): string[] {
  return [
    ...(newestSeconds === undefined ? [] : [`newest row ${formatSeconds(newestSeconds)} old`]),
    ...(waiting === undefined ? [] : [`${formatCount(waiting)} records not in ClickHouse yet`]),
    ...(deadLetters === undefined ? [] : [`${formatCount(deadLetters)} dead letters`]),
  ];
}
