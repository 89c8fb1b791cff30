import { calculationName, isCalculation, reduceValues } from '../../display/calculations.js';
import { asRecord, formatValue, isHiddenFrom } from '../../display/fields.js';
import { h } from '../dom.js';
import type { PanelContext } from '../panel-context.js';
import type { ChartData, Series } from './chart-data.js';

interface Named {
  readonly name: string;
  readonly color: string;
}

/** The names of the series, each a button that shows or hides it; undefined where the panel has no legend. */
export function drawLegend({ series, missing, isEmpty }: ChartData, context: PanelContext): HTMLElement | undefined {
  const options = asRecord(context.panel.options['legend']);
  if (options['showLegend'] === false) return undefined;
  const calculations = Array.isArray(options['calcs']) ? options['calcs'].map(String) : [];
  const named = series.filter(({ display, isOhlc }) => !isHiddenFrom(display, 'legend') && !isOhlc);
  const shown = isEmpty ? [] : named;
  const legend = h('div', { className: 'legend' });
  const isTable = options['displayMode'] === 'table' && calculations.length > 0;
  if (isTable && !isEmpty) legend.append(legendTable(shown, calculations, context));
  else legend.append(...shown.map((one) => toggleOf(namedOf(one), context)));
  if (missing.length > 0) legend.append(missingKey());
  return legend;
}

/** The names of what a chart shows, each a button; undefined where the panel has no legend, or nothing to choose from. */
export function namesLegend(shown: readonly Named[], context: PanelContext): HTMLElement | undefined {
  if (asRecord(context.panel.options['legend'])['showLegend'] === false || shown.length < 2) return undefined;
  return h('div', { className: 'legend' }, ...shown.map((one) => toggleOf(one, context)));
}

export function missingKey(): HTMLElement {
  return h('button', { type: 'button', disabled: true }, h('span', { className: 'swatch hatch' }), 'missing');
}

const namedOf = ({ display, color }: Series): Named => ({ name: display.name, color });

function legendTable(shown: readonly Series[], calculations: readonly string[], context: PanelContext): HTMLElement {
  const heads = calculations.map((name) => h('th', { className: 'number' }, headOf(name)));
  const rows = shown.map((series) => {
    const cells = calculations.map((name) => {
      const value = reduceValues(series.display.field.values, name);
      const { text, suffix } = formatValue(value, series.display);
      return h('td', { className: 'number' }, `${text}${suffix}`);
    });
    return h('tr', {}, h('td', {}, toggleOf(namedOf(series), context)), ...cells);
  });
  return h('table', {}, h('thead', {}, h('tr', {}, h('td'), ...heads)), h('tbody', {}, ...rows));
}

const headOf = (name: string): string => (isCalculation(name) ? calculationName(name) : `${name}: not supported`);

function toggleOf({ name, color }: Named, { hiddenSeries }: PanelContext): HTMLButtonElement {
  const swatch = h('span', { className: 'swatch' });
  swatch.style.background = color;
  const pressed = String(!hiddenSeries.has(name));
  const toggle = h(
    'button',
    { type: 'button', title: `Show or hide ${name}`, attributes: { 'aria-pressed': pressed } },
    swatch,
    h('span', {}, name),
  );
  toggle.addEventListener('click', () => {
    if (!hiddenSeries.delete(name)) hiddenSeries.add(name);
    toggle.dispatchEvent(new CustomEvent('redraw', { bubbles: true }));
  });
  return toggle;
}
