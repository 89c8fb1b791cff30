import { colorOf, seriesColor } from '../display/colors.js';
import { asText, type Display, displaysOf, isHiddenFrom } from '../display/fields.js';
import { type Completeness, completenessOf, isCompleteness } from '../display/strokes.js';
import type { Frame } from '../frames.js';
import { h } from './dom.js';
import type { Drawn, PanelContext } from './panel-context.js';

/** A field of numbers that a panel draws. */
export interface NumberColumn {
  readonly display: Display;
  readonly frame: Frame;
  readonly completeness: Completeness | undefined;
  readonly name: string;
  readonly color: string;
}

/** The fields of numbers that are not hidden, with colors that do not depend on what the reader has switched off. */
export function numberColumnsOf({ frames, config, theme }: PanelContext): NumberColumn[] {
  const columns = frames.flatMap((frame) => {
    const completeness = completenessOf(frame);
    return displaysOf([frame], config)
      .filter(({ field }) => field.kind === 'number' && !isCompleteness(field.name))
      .filter((display) => !isHiddenFrom(display, 'viz'))
      .map((display) => ({ display, frame, completeness, name: display.name }));
  });
  return columns.map((column, i) => ({ ...column, color: columnColor(column.display, i, theme) }));
}

export function columnColor(display: Display, index: number, theme: PanelContext['theme']): string {
  const isFixed = display.colorMode === 'fixed' && display.fixedColor !== undefined;
  return isFixed ? colorOf(display.fixedColor ?? '', theme) : seriesColor(index, theme);
}

/** A panel without data. */
export const drawEmpty = ({ config }: PanelContext): Drawn => ({
  element: h('p', { className: 'empty' }, asText(config.defaults['noValue']) ?? 'no data'),
});

/** A hexadecimal color that shows what is below it; other colors stay as they are. */
export const translucent = (color: string, alpha: number): string =>
  /^#[0-9a-f]{6}$/i.test(color)
    ? `${color}${Math.round(Math.min(1, Math.max(0, alpha)) * 255)
        .toString(16)
        .padStart(2, '0')}`
    : color;
