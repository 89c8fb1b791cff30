import { describe, expect, it } from 'vitest';
import { blocksOf, inlineOf } from '../../viewer/display/markdown.js';

const text = (own: string) => ({ kind: 'text', text: own });

describe('the text of a panel', () => {
  it('has emphasis, code and links, also to addresses with parentheses or a title', () => {
    expect(inlineOf('**a** *b* `c` [d](/e_(f)) [g](/h "i")')).toEqual([
      { kind: 'strong', text: 'a' },
      text(' '),
      { kind: 'emphasis', text: 'b' },
      text(' '),
      { kind: 'code', text: 'c' },
      text(' '),
      { kind: 'link', text: 'd', url: '/e_(f)' },
      text(' '),
      { kind: 'link', text: 'g', url: '/h' },
    ]);
  });

  it('has the alternative text of an image', () => {
    expect(inlineOf('![logo](http://x/y.png)![](z)!')).toEqual([text('logo'), text('!')]);
  });

  it('has headings, lists, code and paragraphs', () => {
    expect(blocksOf('# a\n\nb\n- c\n- d\n1. e\n```\n# f\n\n```\ng')).toEqual([
      { kind: 'heading', level: 1, line: [text('a')] },
      { kind: 'paragraph', line: [text('b')] },
      { kind: 'list', ordered: false, items: [[text('c')], [text('d')], [text('e')]] },
      { kind: 'code', lines: ['# f', ''] },
      { kind: 'paragraph', line: [text('g')] },
    ]);
  });

  it('has tables, and none without a line below the head', () => {
    expect(blocksOf('| a | b |\n|:--|--:|\n| **c** | d \\| e |\nf')).toEqual([
      {
        kind: 'table',
        head: [[text('a')], [text('b')]],
        rows: [[[{ kind: 'strong', text: 'c' }], [text('d | e')]]],
      },
      { kind: 'paragraph', line: [text('f')] },
    ]);
    expect(blocksOf('a | b\n---').map(({ kind }) => kind)).toEqual(['paragraph', 'paragraph']);
  });

  it.each([
    ['brackets', '['.repeat(400_000)],
    ['links without an end', '[a](b'.repeat(100_000)],
    ['lists of one item', '- a\n\n'.repeat(30_000)],
    ['blocks of code', '```\n'.repeat(30_000)],
  ])('takes time in proportion to its length: %s', (_, content) => {
    const started = performance.now();
    blocksOf(content);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
