import { calculationName, isCalculation, reduceValues } from '../display/calculations.js';
import { asRecord, type Display, formatValue } from '../display/fields.js';
import { formatNumber } from '../display/units.js';
import { h } from './dom.js';
import type { PanelContext } from './panel-context.js';

/** What each column of numbers is reduced to, by the panel's options or, of a newer Grafana, by those of the field. */
export function footerOf(columns: readonly Display[], { panel }: PanelContext): HTMLElement | undefined {
  const { show, reducer, fields } = asRecord(panel.options['footer']);
  const isWanted = ({ name, field }: Display) =>
    !Array.isArray(fields) || fields.length === 0 || fields.includes(name) || fields.includes(field.name);
  const ids = columns.map((display) => {
    if (display.field.kind !== 'number') return [];
    const own = textsOf(asRecord(display.custom['footer'])['reducers']);
    return own.length === 0 && show === true && isWanted(display) ? textsOf(reducer) : own;
  });
  const names = [...new Set(ids.flat())];
  if (names.length === 0) return undefined;
  const rows = names.map((id) => {
    const cells = columns.map((display, i) =>
      h('td', { className: 'number' }, ids[i]?.includes(id) ? footerText(display, id) : ''),
    );
    // The first column has the name, unless it has a number.
    const [first] = cells;
    if (first && ids[0]?.length === 0) {
      first.className = '';
      first.textContent = isCalculation(id) ? calculationName(id) : '';
    }
    return h('tr', {}, ...cells);
  });
  return h('tfoot', {}, ...rows);
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function footerText(display: Display, id: string): string {
  if (!isCalculation(id)) return `${id}: not supported`;
  const value = reduceValues(display.field.values, id);
  const isCount = /count/i.test(id) && typeof value === 'number';
  const { text, suffix } = isCount ? formatNumber(value, undefined, 0) : formatValue(value, display);
  return `${text}${suffix}`;
}
