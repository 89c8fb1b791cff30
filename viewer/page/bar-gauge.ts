import { colorOf, seriesColor } from '../display/colors.js';
import { asText, formatValue, valueColor } from '../display/fields.js';
import { limitNote, tilesOf } from '../display/tiles.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';

/** A horizontal bar per value, from the minimum to the maximum of its field. */
export function drawBarGauge(context: PanelContext): Drawn {
  const tiles = tilesOf(context);
  if (tiles.length === 0)
    return { element: h('p', { className: 'empty' }, asText(context.config.defaults['noValue']) ?? 'no data') };
  const largest = Math.max(...tiles.map(({ value }) => (typeof value === 'number' ? value : 0)));
  const rows = tiles.map(({ name, value, display }, i) => {
    const { text, suffix, color } = formatValue(value, display);
    const min = display.min ?? 0;
    const max = display.max ?? largest;
    const fill = h('i');
    const part = typeof value === 'number' ? (value - min) / (max - min || 1) : 0;
    fill.style.width = `${Math.min(100, Math.max(0, part * 100))}%`;
    const named = color ?? valueColor(value, display);
    fill.style.background = named === undefined ? seriesColor(i, context.theme) : colorOf(named, context.theme);
    const bar = h('span', { className: 'gauge', attributes: { 'aria-hidden': 'true' } }, fill);
    bar.style.width = '100%';
    return h(
      'tr',
      {},
      h('th', { attributes: { scope: 'row' } }, name),
      h('td', {}, bar),
      h('td', { className: 'number' }, `${text}${suffix}`),
    );
  });
  const element = h('div', { className: 'scroll' }, h('table', { className: 'bars' }, h('tbody', {}, ...rows)));
  return { element, note: limitNote(context) };
}
