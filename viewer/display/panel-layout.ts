import type { PagePanel } from '../page-model.js';
import type { Scope, ShownVariable } from './fill-text.js';
import { ALL } from './variable-reference.js';

/** A panel or row of the page: of a repeated one, that of one value. */
export interface PlacedPanel {
  /** The same for the same panel and values: for permalinks. */
  readonly key: string;
  readonly panel: PagePanel;
  readonly scope: Scope;
  readonly gridPos: PagePanel['gridPos'];
}

/** A row with its panels; those before the first row have none. */
interface Section {
  readonly row: PagePanel | undefined;
  readonly panels: readonly PagePanel[];
}

const COLUMNS = 24;
const MAX_HEIGHT = 200;
/** How often a panel or row is repeated, and how many panels all repetitions of a row have. */
const MAX_REPEATS = 50;
const MAX_ROW_PANELS = 500;

/**
 * The panels of a page, repeated for the values of variables, each as high up as the panels before it allow.
 * @param isCollapsed whether the panels of a row are hidden, by its key
 */
export function arrangePanels(
  panels: readonly PagePanel[],
  variables: readonly ShownVariable[],
  isCollapsed: (row: { readonly key: string; readonly panel: PagePanel }) => boolean,
): PlacedPanel[] {
  const placed: PlacedPanel[] = [];
  for (const { row, panels: own } of sectionsOf(panels)) {
    if (!row) {
      arrange(
        own.flatMap((panel) => repeated(panel, {}, variables)),
        placed,
      );
      continue;
    }
    const size = Math.max(1, own.flatMap((panel) => repeated(panel, {}, variables)).length);
    for (const heading of repeated(row, {}, variables, Math.min(MAX_REPEATS, Math.ceil(MAX_ROW_PANELS / size)))) {
      arrange([heading], placed);
      if (heading.panel.type !== 'row' || isCollapsed(heading)) continue;
      arrange(
        own.flatMap((panel) => repeated(panel, heading.scope, variables)),
        placed,
      );
    }
  }
  return placed;
}

/** A row has the panels in it, or those that follow it. */
function sectionsOf(panels: readonly PagePanel[]): Section[] {
  const byPosition = ({ gridPos: a }: PagePanel, { gridPos: b }: PagePanel) => a.y - b.y || a.x - b.x;
  const inside = (row: number | undefined) => panels.filter((one) => one.row === row).sort(byPosition);
  const sections: { row: PagePanel | undefined; panels: PagePanel[] }[] = [{ row: undefined, panels: [] }];
  for (const panel of inside(undefined)) {
    const own = inside(panel.id);
    if (panel.type !== 'row') sections.at(-1)?.panels.push(panel);
    else sections.push({ row: panel, panels: own });
    if (own.length > 0) sections.push({ row: undefined, panels: [] });
  }
  return sections;
}

/** A panel once per value of its variable; once where there is nothing to repeat it over. */
function repeated(
  panel: PagePanel,
  scope: Scope,
  variables: readonly ShownVariable[],
  limit = MAX_REPEATS,
): PlacedPanel[] {
  const { repeat, gridPos, id } = panel;
  const values = repeat && !Object.hasOwn(scope, repeat.variable) ? valuesOf(repeat.variable, variables) : [];
  if (!repeat || values.length === 0) return [{ key: keyOf(id, scope), panel, scope, gridPos }];
  const shown = values.slice(0, limit);
  const copies = shown.map((value, i): PlacedPanel => {
    const own = { ...scope, [repeat.variable]: value };
    return { key: keyOf(id, own), panel, scope: own, gridPos: positionOf(panel, i, shown.length) };
  });
  const more = values.length - shown.length;
  return more === 0 ? copies : [...copies, remainder(panel, scope, `${more} more values of ${repeat.variable}`, limit)];
}

/** In place of the repetitions that are not drawn. */
function remainder(panel: PagePanel, scope: Scope, more: string, limit: number): PlacedPanel {
  const unsupported = `more than ${limit} repetitions: there are ${more}`;
  return {
    key: `${keyOf(panel.id, scope)}/more`,
    panel: { ...panel, type: 'text', unsupported },
    scope,
    gridPos: { ...panel.gridPos, x: 0, w: COLUMNS, h: 3 },
  };
}

function valuesOf(name: string, variables: readonly ShownVariable[]): readonly string[] {
  const variable = variables.find((one) => one.name === name);
  if (!variable || variable.options.length === 0) return [];
  const all = variable.options.map(({ value }) => value);
  return [...new Set(variable.value.includes(ALL) ? all : variable.value)];
}

const keyOf = (id: number, scope: Scope): string =>
  [id, ...Object.entries(scope).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)].join('/');

/** Of the repetitions of a row of panels each is as wide as the others; below each other they are as wide as in the file. */
function positionOf({ repeat, gridPos, type }: PagePanel, i: number, count: number): PagePanel['gridPos'] {
  if (!repeat || repeat.isVertical || type === 'row') return gridPos;
  const perRow = Math.max(1, Math.min(count, repeat.maxPerRow));
  const startOf = (column: number) => Math.round((column * COLUMNS) / perRow);
  const column = i % perRow;
  return { ...gridPos, x: startOf(column), w: startOf(column + 1) - startOf(column) };
}

/** Adds items of one section below those that are placed, in their order. */
function arrange(items: readonly PlacedPanel[], placed: PlacedPanel[]): void {
  const top = Math.max(0, ...placed.map(({ gridPos: { y, h } }) => y + h));
  const bottoms = new Array<number>(COLUMNS).fill(top);
  for (const item of items) {
    const w = between(Math.round(item.gridPos.w), 1, COLUMNS);
    const h = between(Math.round(item.gridPos.h), 1, MAX_HEIGHT);
    const x = between(Math.round(item.gridPos.x), 0, COLUMNS - w);
    const y = Math.max(...bottoms.slice(x, x + w));
    bottoms.fill(y + h, x, x + w);
    placed.push({ ...item, gridPos: { x, y, w, h } });
  }
}

const between = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));
