import { colorOf } from '../display/colors.js';
import { asText, formatValue, thresholdColor, valueColor } from '../display/fields.js';
import { shown } from '../display/safe-text.js';
import { limitNote, type Tile, tilesOf } from '../display/tiles.js';
import { h } from './dom.js';
import { drawEmpty } from './number-columns.js';
import type { Drawn, PanelContext } from './panel-context.js';

const SVG = 'http://www.w3.org/2000/svg';
/** The arc is open at the bottom: from 7 to 5 o'clock. */
const FIRST_DEGREE = -120;
const LAST_DEGREE = 120;
const RADIUS = 40;
const THRESHOLDS_RADIUS = 47;

/** A dial per value, from the minimum to the maximum of its field, with its thresholds around it. */
export function drawGauge(context: PanelContext): Drawn {
  const tiles = tilesOf(context);
  if (tiles.length === 0 || context.frames.every(({ fields }) => (fields[0]?.values.length ?? 0) === 0))
    return drawEmpty(context);
  const element = h('div', { className: 'tiles' }, ...tiles.map((tile) => dialOf(tile, tiles.length > 1, context)));
  return {
    element,
    note: limitNote(context),
    resize: (width, height) => {
      element.style.gridTemplateColumns = `repeat(${columnsFor(tiles.length, width, height)}, minmax(0, 1fr))`;
    },
  };
}

/** As many columns as make the dials largest. */
function columnsFor(count: number, width: number, height: number): number {
  const counts = Array.from({ length: count }, (_, i) => i + 1);
  const sizeFor = (columns: number) => Math.min(width / columns, height / Math.ceil(count / columns));
  return counts.reduce((best, columns) => (sizeFor(columns) > sizeFor(best) ? columns : best), 1);
}

function dialOf({ name, value, display }: Tile, isNamed: boolean, context: PanelContext): HTMLElement {
  const { theme, panel } = context;
  const { text, suffix, color } = formatValue(value, display);
  const min = display.min ?? 0;
  const max = display.max ?? (display.unit === 'percentunit' ? 1 : 100);
  const degreeOf = (at: number) =>
    FIRST_DEGREE + (LAST_DEGREE - FIRST_DEGREE) * Math.min(1, Math.max(0, (at - min) / (max - min || 1)));
  const named = color ?? valueColor(value, display) ?? 'blue';
  const painted = colorOf(named, theme);
  const dial = document.createElementNS(SVG, 'svg');
  dial.setAttribute('viewBox', '0 0 100 76');
  dial.setAttribute('role', 'img');
  dial.setAttribute('aria-label', shown(`${name}: ${text}${suffix}`));
  dial.append(arc(FIRST_DEGREE, LAST_DEGREE, RADIUS, 8, 'var(--line)'));
  if (typeof value === 'number' && value > min) dial.append(arc(FIRST_DEGREE, degreeOf(value), RADIUS, 8, painted));
  if (panel.options['showThresholdMarkers'] !== false) {
    const starts = display.thresholds.map((step) =>
      Math.max(
        min,
        display.thresholdsMode === 'percentage' ? min + ((step.value ?? 0) / 100) * (max - min) : (step.value ?? min),
      ),
    );
    for (const [i, from] of starts.entries()) {
      const to = Math.min(max, starts[i + 1] ?? max);
      const step = thresholdColor(from, display);
      if (to > from && step !== undefined)
        dial.append(arc(degreeOf(from), degreeOf(to), THRESHOLDS_RADIUS, 2, colorOf(step, theme)));
    }
  }
  const full = `${text}${suffix}`;
  dial.append(label(full, 54, Math.min(20, 92 / Math.max(4, full.length)), painted));
  const showsName = isNamed && asText(panel.options['textMode']) !== 'value';
  return h(
    'div',
    { className: 'dial' },
    dial,
    showsName ? h('span', { className: 'name', title: name }, name) : undefined,
  );
}

function arc(from: number, to: number, radius: number, width: number, color: string): SVGElement {
  const at = (degree: number) => {
    const radians = ((degree - 90) * Math.PI) / 180;
    return `${(50 + radius * Math.cos(radians)).toFixed(2)} ${(50 + radius * Math.sin(radians)).toFixed(2)}`;
  };
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', `M ${at(from)} A ${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${at(to)}`);
  path.setAttribute('fill', 'none');
  path.setAttribute('stroke', color);
  path.setAttribute('stroke-width', String(width));
  return path;
}

function label(text: string, y: number, size: number, color: string): SVGElement {
  const element = document.createElementNS(SVG, 'text');
  element.setAttribute('x', '50');
  element.setAttribute('y', String(y));
  element.setAttribute('text-anchor', 'middle');
  element.setAttribute('font-size', size.toFixed(1));
  element.setAttribute('font-weight', '600');
  element.setAttribute('fill', color);
  element.textContent = shown(text);
  return element;
}
