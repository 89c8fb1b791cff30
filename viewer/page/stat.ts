import { colorOf } from '../display/colors.js';
import { asText, formatValue, valueColor } from '../display/fields.js';
import { limitNote, tilesOf } from '../display/tiles.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';

/** Smaller than most tiles could hold, so that tiles side by side have values of one size. */
const MAX_TEXT_PX = 32;
const MIN_TEXT_PX = 12;

export function drawStat(context: PanelContext): Drawn {
  const tiles = tilesOf(context);
  const noValue = asText(context.config.defaults['noValue']) ?? 'no data';
  if (tiles.length === 0 || context.frames.every(({ fields }) => (fields[0]?.values.length ?? 0) === 0))
    return { element: h('p', { className: 'empty' }, noValue) };
  const named = context.panel.options['textMode'] !== 'value' && (tiles.length > 1 || textMode(context) !== 'auto');
  const values: { element: HTMLElement; characters: number }[] = [];
  const element = h('div', { className: 'tiles' });
  for (const { name, value, display } of tiles) {
    const { text, suffix, color } = formatValue(value, display);
    const shown = h('span', { className: 'value' }, text, h('span', { className: 'unit' }, suffix));
    const named_ = color ?? (value === null ? undefined : valueColor(value, display));
    if (named_ !== undefined) shown.style.color = colorOf(named_, context.theme);
    values.push({ element: shown, characters: text.length + suffix.length * 0.6 });
    element.append(
      h('div', { className: 'tile' }, named ? h('span', { className: 'name', title: name }, name) : undefined, shown),
    );
  }
  return {
    element,
    note: limitNote(context),
    resize: (width, height) => fitValues(element, values, { width, height }, named),
  };
}

const textMode = ({ panel }: PanelContext): string => asText(panel.options['textMode']) ?? 'auto';

/** As many columns as make the values largest, and one size of text for all. */
function fitValues(
  element: HTMLElement,
  values: readonly { element: HTMLElement; characters: number }[],
  { width, height }: { width: number; height: number },
  named: boolean,
): void {
  const longest = Math.max(1, ...values.map(({ characters }) => characters));
  const sizeFor = (columns: number) => {
    const rows = Math.ceil(values.length / columns);
    const tileHeight = height / rows - 4 - (named ? 18 : 0);
    return Math.min((width / columns - 10) / (longest * 0.7), tileHeight * 0.8, MAX_TEXT_PX);
  };
  const counts = Array.from({ length: values.length }, (_, i) => i + 1);
  const columns = counts.reduce((best, count) => (sizeFor(count) > sizeFor(best) + 0.5 ? count : best), 1);
  element.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const size = Math.max(MIN_TEXT_PX, Math.floor(sizeFor(columns)));
  for (const { element: one } of values) one.style.fontSize = `${size}px`;
}
