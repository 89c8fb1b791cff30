import { printable } from '../../core/index.js';
import { columns, formatCount, formatSeconds } from '../format.js';
import type { ProcessState } from './supervised-process.js';

export interface PartLine {
  readonly name: string;
  /** `external`: runs elsewhere, and is not ours to start. */
  readonly state: ProcessState | 'external';
  readonly address: string;
  /** What it is or does, a few words. */
  readonly about: string;
}

export interface TableLine {
  readonly name: string;
  readonly rows: number;
  /** Rows per second, lately. */
  readonly perSecond: number;
}

/** Everything that the screen of `chancery up` shows. */
export interface BoardState {
  readonly version: string;
  readonly dataFolder: string;
  readonly parts: readonly PartLine[];
  readonly tables: readonly TableLine[];
  /** Records on the bus that are not in ClickHouse yet; undefined when nobody could tell. */
  readonly waiting: number | undefined;
  /** Age of the newest row, seconds. */
  readonly newestSeconds: number | undefined;
  readonly deadLetters: number | undefined;
  /** ClickHouse's web console. */
  readonly consoleUrl: string;
  /** A command that answers a first question. */
  readonly question: string;
}

/** Colours for a terminal that has them, or nothing. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

/** How many tables are named; a window and a line of a log have room for no more. */
const TABLES_ON_BOARD = 9;
const TABLES_IN_LINE = 5;

const ESC = String.fromCharCode(27);
const sgr = (code: number) => (text: string) => `${ESC}[${code}m${text}${ESC}[0m`;
const asIs = (text: string) => text;
export const COLOURS: Paint = { bold: sgr(1), dim: sgr(2), good: sgr(32), bad: sgr(31) };
export const PLAIN: Paint = { bold: asIs, dim: asIs, good: asIs, bad: asIs };

/** The screen as lines. */
export function board(state: BoardState, paint: Paint): string[] {
  return [
    '',
    `${paint.bold(`Chancery ${state.version}`)}  ${paint.dim('data folder')} ${printable(state.dataFolder)}`,
    '',
    ...partLines(state, paint),
    '',
    ...tableLines(state, paint),
    '',
    `  ${paint.dim('open')}   ${state.consoleUrl}`,
    `  ${paint.dim('ask')}    ${state.question}`,
    `  ${paint.dim('stop')}   Ctrl-C`,
  ];
}

/** One line for logs: what was recorded so far. */
export function progressLine(state: BoardState): string {
  const rows = state.tables.reduce((sum, table) => sum + table.rows, 0);
  const perSecond = state.tables.reduce((sum, table) => sum + table.perSecond, 0);
  const tables = largest(state.tables, TABLES_IN_LINE).map((table) => `${table.name} ${formatCount(table.rows)}`);
  const down = state.parts.filter((part) => !isFine(part)).map((part) => `${part.name} ${part.state}`);
  return [
    `recorded ${formatCount(rows)} rows (+${formatCount(Math.round(perSecond))}/s): ${tables.join(', ') || 'nothing yet'}`,
    ...quality(state),
    ...down,
  ].join('; ');
}

function partLines({ parts }: BoardState, paint: Paint): string[] {
  const lines = columns(parts.map((part) => [part.name, part.state, part.address, part.about].map(printable)));
  return lines.map((line, i) => {
    const part = parts[i];
    if (!part) return line;
    return `  ${line.replace(part.state, (isFine(part) ? paint.good : paint.bad)(part.state))}`;
  });
}

function isFine({ state }: PartLine): boolean {
  return state === 'ready' || state === 'external';
}

function tableLines(state: BoardState, paint: Paint): string[] {
  if (state.tables.length === 0) return [`  ${paint.dim('nothing recorded yet')}`];
  const rows = columns(
    largest(state.tables, TABLES_ON_BOARD).map((t) => [printable(t.name), formatCount(t.rows), rate(t.perSecond)]),
    [1, 2],
  );
  return [...rows.map((row) => `  ${row}`), `  ${paint.dim(quality(state).join(' · '))}`];
}

/** The largest tables first; those that find no place are one line together. */
function largest(tables: readonly TableLine[], places: number): TableLine[] {
  const sorted = [...tables].sort((a, b) => b.rows - a.rows || a.name.localeCompare(b.name));
  if (sorted.length <= places) return sorted;
  const others = sorted.slice(places - 1);
  const sum = (of: (table: TableLine) => number) => others.reduce((total, table) => total + of(table), 0);
  const rest = { name: `${others.length} others`, rows: sum((t) => t.rows), perSecond: sum((t) => t.perSecond) };
  return [...sorted.slice(0, places - 1), rest];
}

function rate(perSecond: number): string {
  const rounded = Math.round(perSecond);
  return rounded > 0 ? `+${formatCount(rounded)}/s` : '';
}

function quality({ waiting, newestSeconds, deadLetters }: BoardState): string[] {
  return [
    ...(newestSeconds === undefined ? [] : [`newest row ${formatSeconds(newestSeconds)} old`]),
    ...(waiting === undefined ? [] : [`${formatCount(waiting)} records waiting`]),
    ...(deadLetters === undefined ? [] : [`${formatCount(deadLetters)} dead letters`]),
  ];
}
