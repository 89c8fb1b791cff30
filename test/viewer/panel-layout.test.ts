// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Grafana writes a variable.
import { describe, expect, it } from 'vitest';
import { fillMarkdown, fillText } from '../../viewer/display/fill-text.js';
import { arrangePanels, type PlacedPanel } from '../../viewer/display/panel-layout.js';
import type { PagePanel } from '../../viewer/page-model.js';

const options = (values: readonly string[]) => values.map((value) => ({ text: value.toUpperCase(), value }));
const variable = (name: string, value: readonly string[], all: readonly string[] = value) => ({
  name,
  value,
  options: options(all),
});
const panel = (id: number, [x, y, w, h]: readonly number[], more: Partial<PagePanel> = {}): PagePanel => ({
  id,
  type: 'table',
  title: '',
  description: '',
  gridPos: { x: x ?? 0, y: y ?? 0, w: w ?? 24, h: h ?? 8 },
  fieldConfig: { defaults: {}, overrides: [] },
  options: {},
  transformations: [],
  collapsed: false,
  links: [],
  ...more,
});
const row = (id: number, y: number, more: Partial<PagePanel> = {}) =>
  panel(id, [0, y, 24, 1], { type: 'row', ...more });
const over = (name: string, more: Partial<NonNullable<PagePanel['repeat']>> = {}) => ({
  repeat: { variable: name, isVertical: false, maxPerRow: 4, ...more },
});
const positions = (placed: readonly PlacedPanel[]) =>
  placed.map(({ key, gridPos: { x, y, w, h } }) => `${key} ${x},${y} ${w}x${h}`);
const arrange = (panels: readonly PagePanel[], variables: Parameters<typeof arrangePanels>[1] = []) =>
  positions(arrangePanels(panels, variables, ({ panel: { collapsed } }) => collapsed));

describe('the panels of a page', () => {
  it('are where their file places them, without gaps and within the grid', () => {
    expect(arrange([panel(2, [12, 0, 12, 4]), panel(1, [0, 0, 12, 8]), panel(3, [12, 6, 30, 1e9])])).toEqual([
      '1 0,0 12x8',
      '2 12,0 12x4',
      '3 0,8 24x200',
    ]);
  });

  it('of a collapsed row are hidden, and those below move up; opened, they are below it', () => {
    const inner = panel(11, [0, 1, 24, 8], { row: 10 });
    const below = [row(20, 1), panel(21, [0, 2, 24, 8])];
    expect(arrange([row(10, 0, { collapsed: true }), inner, ...below])).toEqual([
      '10 0,0 24x1',
      '20 0,1 24x1',
      '21 0,2 24x8',
    ]);
    expect(arrange([row(10, 0), inner, ...below])).toEqual([
      '10 0,0 24x1',
      '11 0,1 24x8',
      '20 0,9 24x1',
      '21 0,10 24x8',
    ]);
  });

  it('below a collapsed row with panels of its own are not in it', () => {
    const panels = [row(10, 0, { collapsed: true }), panel(11, [0, 1, 24, 8], { row: 10 }), panel(12, [0, 1, 24, 8])];
    expect(arrange(panels)).toEqual(['10 0,0 24x1', '12 0,1 24x8']);
  });

  it('are repeated side by side, at most maxPerRow in a row, and those below move down', () => {
    const panels = [panel(1, [0, 0, 6, 8], over('host', { maxPerRow: 3 })), panel(2, [0, 8, 24, 4])];
    expect(arrange(panels, [variable('host', ['a', 'b c', 'd', 'e'])])).toEqual([
      '1/host=a 0,0 8x8',
      '1/host=b%20c 8,0 8x8',
      '1/host=d 16,0 8x8',
      '1/host=e 0,8 8x8',
      '2 0,16 24x4',
    ]);
    expect(arrange(panels, [variable('host', ['a'])])).toEqual(['1/host=a 0,0 24x8', '2 0,8 24x4']);
    expect(
      arrange([panel(1, [0, 0], over('n', { maxPerRow: 12 }))], [variable('n', ['1', '2', '3', '4', '5'])]),
    ).toEqual(['1/n=1 0,0 5x8', '1/n=2 5,0 5x8', '1/n=3 10,0 4x8', '1/n=4 14,0 5x8', '1/n=5 19,0 5x8']);
  });

  it('are repeated below each other, as wide as in the file', () => {
    const panels = [panel(1, [0, 0, 6, 8], over('host', { isVertical: true })), panel(2, [6, 0, 18, 8])];
    expect(arrange(panels, [variable('host', ['a', 'b'])])).toEqual([
      '1/host=a 0,0 6x8',
      '1/host=b 0,8 6x8',
      '2 6,0 18x8',
    ]);
  });

  it('are repeated with their row, and by their own variable in each', () => {
    const panels = [
      row(1, 0, over('zone')),
      panel(2, [0, 1, 12, 4]),
      panel(3, [12, 1, 12, 4], over('host')),
      row(4, 9),
    ];
    expect(arrange(panels, [variable('zone', ['$__all'], ['x', 'y']), variable('host', ['a'], ['a', 'b'])])).toEqual([
      '1/zone=x 0,0 24x1',
      '2/zone=x 0,1 12x4',
      '3/zone=x/host=a 0,5 24x4',
      '1/zone=y 0,9 24x1',
      '2/zone=y 0,10 12x4',
      '3/zone=y/host=a 0,14 24x4',
      '4 0,18 24x1',
    ]);
  });

  it('over a variable of their row, or one that has no values, are drawn once', () => {
    const panels = [row(1, 0, over('zone')), panel(2, [0, 1], over('zone')), panel(3, [0, 9], over('nothing'))];
    const keys = arrangePanels(panels, [variable('zone', ['x', 'y'])], () => false).map(({ key }) => key);
    expect(keys).toEqual(['1/zone=x', '2/zone=x', '3/zone=x', '1/zone=y', '2/zone=y', '3/zone=y']);
    expect(arrange([panel(3, [0, 0], over('nothing'))])).toEqual(['3 0,0 24x8']);
  });

  it('are repeated at most 50 times, and the rest is named', () => {
    const many = Array.from({ length: 60 }, (_, i) => String(i));
    const placed = arrangePanels([panel(1, [0, 0], over('host'))], [variable('host', many)], () => false);
    expect(placed).toHaveLength(51);
    expect(placed.at(-1)?.panel.unsupported).toBe('more than 50 repetitions: there are 10 more values of host');
    const rows = arrangePanels(
      [row(1, 0, over('zone')), panel(2, [0, 1], over('host'))],
      [variable('host', many), variable('zone', many)],
      () => false,
    );
    expect(rows.length).toBeLessThan(600);
    expect(rows.at(-1)?.panel.unsupported).toBe('more than 10 repetitions: there are 50 more values of zone');
  });
});

describe('a text with variables', () => {
  const variables = [variable('host', ['a', 'b'], ['a', 'b', 'c']), variable('all', ['$__all'], ['x', 'y'])];

  it('has the texts of their values in titles, and the values in text panels', () => {
    const text = '$host ${host} [[host]] ${host:raw} ${all} ${all:raw}';
    expect(fillText(text, variables, {}, 'text')).toBe('A, B A, B A, B a, b All x, y');
    expect(fillText('$host ${host:text} $all', variables, {}, 'raw')).toBe('a, b A, B x, y');
  });

  it('has the value of its repetition, and leaves what is no variable', () => {
    expect(fillText('$host', variables, { host: 'c' }, 'text')).toBe('C');
    expect(fillMarkdown('$host [x](/?q=$host) [y]($all)', variables, {})).toBe('a, b [x](/?q=a%2C%20b) [y](x,%20y)');
    expect(fillText('$5 ${nothing} ${host:json} $', variables, {}, 'text')).toBe('$5 ${nothing} ${host:json} $');
  });
});
