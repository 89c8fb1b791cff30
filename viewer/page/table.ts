import { fillLinkTitle, parseAddress } from '../display/address.js';
import { colorOf } from '../display/colors.js';
import {
  asNumber,
  asRecord,
  asText,
  type Display,
  displaysOf,
  formatValue,
  isHiddenFrom,
  thresholdColor,
} from '../display/fields.js';
import { besideTimes } from '../display/joins.js';
import { shown } from '../display/safe-text.js';
import { formatNumber } from '../display/units.js';
import type { Frame, Value } from '../frames.js';
import { h } from './dom.js';
import { anchorOf } from './links.js';
import type { Drawn, PanelContext, TableOrder } from './panel-context.js';
import { footerOf } from './table-footer.js';

/** Characters of a text that may take several lines. */
const LONG_TEXT = 24;
/** Characters of a text without blanks, such as an ID, that stays on one line. */
const MAX_WORD = 80;
/** Rows, or columns, of a table in which every text is shown as a whole: one record, for example. */
const FEW_ROWS = 2;
const FEW_COLUMNS = 2;
/** Rows that are drawn: ten thousands would stop the page for seconds. */
const MAX_ROWS = 1000;

/** The first rows of its order. With several results, those with one row per time are columns of the first; others are not shown. */
export function drawTable(context: PanelContext, frames: readonly Frame[] = context.frames): Drawn {
  const { frame, left } = besideTimes(frames);
  const displays = frame ? displaysOf([frame], context.config) : [];
  const columns = displays.filter((display) => !isHiddenFrom(display, 'viz'));
  const rows = frame?.fields[0]?.values.length ?? 0;
  if (rows === 0) {
    const noValue = asText(context.config.defaults['noValue']) ?? 'no data';
    return { element: h('p', { className: 'empty' }, noValue) };
  }
  const body = h('tbody');
  const { tableOrder } = context;
  tableOrder.by ??= ownOrder(context, columns);
  const cells = columns.map((display) => columnOf(display, context));
  const fill = () => {
    const indexes = sorted(rows, columns, tableOrder).slice(0, MAX_ROWS);
    body.replaceChildren(...indexes.map((row) => rowOf(row, cells, displays, context)));
    for (const [i, { name }] of columns.entries()) headings[i]?.setAttribute('aria-sort', sortOf(name, tableOrder));
  };
  const headings = columns.map((display) => {
    const heading = h('th', {
      className: display.field.kind === 'number' ? 'number' : '',
      attributes: { scope: 'col' },
    });
    const width = asNumber(display.custom['width']);
    if (width !== undefined) heading.style.width = `${width}px`;
    const title = headingOf(display);
    const sorter = h('button', { type: 'button', title: `Sort by ${title}` }, title);
    sorter.addEventListener('click', () => {
      const { name: column, field } = display;
      const { by } = tableOrder;
      tableOrder.by = { column, descending: by?.column === column ? !by.descending : field.kind === 'number' };
      fill();
    });
    heading.append(sorter);
    return heading;
  });
  fill();
  const table = h('table', {}, h('thead', {}, h('tr', {}, ...headings)), body, footerOf(columns, context));
  const element = h(
    'div',
    {
      className: `scroll${rows > FEW_ROWS && columns.length > FEW_COLUMNS ? ' many' : ''}`,
      tabIndex: 0,
      attributes: { role: 'group', 'aria-label': context.panel.title },
    },
    table,
  );
  return {
    element,
    resize: () => {
      const isTooWide = () => element.scrollWidth > element.clientWidth;
      element.classList.remove('wraps', 'scrolls');
      element.classList.toggle('wraps', isTooWide());
      element.classList.toggle('scrolls', isTooWide());
    },
    note: [
      rows > MAX_ROWS
        ? `the first ${formatNumber(MAX_ROWS, 'none', 0).text} of ${formatNumber(rows, 'none', 0).text} rows`
        : '',
      left > 0 ? `without ${left} of ${frames.length} results` : '',
    ]
      .filter((text) => text !== '')
      .join('; '),
  };
}

/** A name that depends on the row is that of a value, not of the column. */
function headingOf({ name, nameAt, field }: Display): string {
  const last = field.values.length - 1;
  return last > 0 && nameAt(0) !== nameAt(last) ? field.name : name;
}

/** The order of the panel's file. */
function ownOrder({ panel }: PanelContext, columns: readonly Display[]): TableOrder['by'] {
  const { sortBy } = panel.options;
  const { displayName, desc } = asRecord(Array.isArray(sortBy) ? sortBy[0] : undefined);
  const column = columns.find(({ name, field }) => name === displayName || field.name === displayName)?.name;
  return column === undefined ? undefined : { column, descending: desc === true };
}

function sortOf(column: string, { by }: TableOrder): string {
  if (by?.column !== column) return 'none';
  return by.descending ? 'descending' : 'ascending';
}

function sorted(rows: number, columns: readonly Display[], { by }: TableOrder): number[] {
  const indexes = Array.from({ length: rows }, (_, i) => i);
  const values = columns.find(({ name }) => name === by?.column)?.field.values;
  if (!by || !values) return indexes;
  const sign = by.descending ? -1 : 1;
  return indexes.sort((a, b) => sign * compare(values[a] ?? null, values[b] ?? null) || a - b);
}

function compare(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) === String(b) ? 0 : 1;
}

function rowOf(
  row: number,
  columns: readonly Column[],
  displays: readonly Display[],
  context: PanelContext,
): HTMLTableRowElement {
  const element = h('tr', {}, ...columns.map((column) => cellOf(column, row, displays, context)));
  if (isChosen(element, context)) element.setAttribute('aria-current', 'true');
  return element;
}

/** Whether the link of a row leads to what the page shows: its dashboard, with the values that its variables have. */
function isChosen(row: HTMLElement, { links }: PanelContext): boolean {
  const anchor = row.querySelector('a');
  const target = anchor && parseAddress(anchor.pathname, anchor.search);
  if (!target || target.uid !== parseAddress(location.pathname, '')?.uid) return false;
  const variables = Object.entries(target.variables);
  return variables.length > 0 && variables.every(([name, values]) => `${values}` === `${links.variables[name] ?? ''}`);
}

function cellOf(
  { display, kind, widest }: Column,
  row: number,
  displays: readonly Display[],
  context: PanelContext,
): HTMLTableCellElement {
  const value = display.field.values[row] ?? null;
  const { full, color } = cellText(value, display, context);
  const isLong = display.field.kind === 'text' && full.length > LONG_TEXT;
  const isWord = full.length <= MAX_WORD && !/\s/.test(full);
  const className = display.field.kind === 'number' ? 'number' : isLong ? `long${isWord ? ' word' : ''}` : '';
  const cell = h('td', { className, title: shown(full) });
  const named = color ?? thresholdColor(value, display);
  const painted = named === undefined ? undefined : colorOf(named, context.theme);
  if (kind === 'gauge' && typeof value === 'number') cell.append(gaugeOf(value, display, painted));
  if (painted !== undefined && kind === 'color-background')
    cell.style.backgroundColor = `color-mix(in srgb, ${painted} 30%, transparent)`;
  else if (painted !== undefined && (kind === 'color-text' || color !== undefined)) cell.style.color = painted;
  const content = linked(full, display, row, displays, context);
  if (isLong) {
    cell.append(spanOf('lines', content));
    cell.style.setProperty('--characters', String(full.length));
  } else if (widest === undefined) cell.append(...content);
  else {
    const number = spanOf('beside', content);
    // The style sheet makes room for it.
    number.dataset['widest'] = widest;
    cell.append(number);
  }
  return cell;
}

function spanOf(className: string, content: readonly (Node | string)[]): HTMLElement {
  const span = h('span', { className });
  span.append(...content);
  return span;
}

function cellText(value: Value, display: Display, { config }: PanelContext): { full: string; color?: string } {
  // The text of an empty panel is not that of an empty cell.
  const isOfPanel = display.noValue === config.defaults['noValue'];
  const { text, suffix, ...rest } = formatValue(value, isOfPanel ? { ...display, noValue: undefined } : display);
  return { ...rest, full: `${text}${suffix}` };
}

/** A field that a table shows. */
interface Column {
  readonly display: Display;
  /** Grafana's kind of its cells. */
  readonly kind: string;
  /** Where bars are beside the numbers, the longest of those: all bars begin at the same place. */
  readonly widest: string | undefined;
}

function columnOf(display: Display, context: PanelContext): Column {
  const kind = asText(asRecord(display.custom['cellOptions'])['type']) ?? 'auto';
  const texts = kind === 'gauge' ? display.field.values.map((value) => cellText(value, display, context).full) : [];
  const widest = texts.reduce<string | undefined>(
    (a, b) => (a !== undefined && a.length >= b.length ? a : b),
    undefined,
  );
  return { display, kind, widest };
}

function gaugeOf(value: number, { min = 0, max = 100 }: Display, color: string | undefined): HTMLElement {
  const fill = h('i');
  fill.style.width = `${Math.min(100, Math.max(0, ((value - min) / (max - min || 1)) * 100))}%`;
  fill.style.background = color ?? 'currentColor';
  return h('span', { className: 'gauge', attributes: { 'aria-hidden': 'true' } }, fill);
}

function linked(
  text: string,
  display: Display,
  row: number,
  displays: readonly Display[],
  context: PanelContext,
): (Node | string)[] {
  const { links } = display;
  if (links.length === 0) return [shown(text)];
  const values = Object.fromEntries(displays.map(({ field }) => [field.name, String(field.values[row] ?? '')]));
  const value = String(display.field.values[row] ?? '');
  const time = displays.find(({ field }) => field.kind === 'time')?.field.values[row];
  const rowLinks = { ...context.links, row: values, field: display.name, value, time: String(time ?? '') };
  const { navigate } = context;
  // The value is the first link; others follow it.
  return links.flatMap(({ url, title }, i) => {
    const about = shown(fillLinkTitle(title, rowLinks));
    const anchor = anchorOf(url, i === 0 ? text : about || url, { context: rowLinks, navigate, title: about });
    if (i === 0) return [anchor ?? shown(text)];
    return anchor ? [' ', anchor] : [];
  });
}
