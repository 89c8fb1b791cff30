import { describe, expect, it } from 'vitest';
import { endsStatement } from '../../cli/sql/console.js';
import { parseRows, renderTable } from '../../cli/sql/table.js';

const answer = [
  '["title", "chance", "note"]',
  '["String", "Nullable(Float64)", "LowCardinality(String)"]',
  '["Rain tomorrow", "0.25", "a"]',
  '["Été", "ᴺᵁᴸᴸ", "two\\nlines"]',
].join('\n');

describe('a table of a result', () => {
  it('aligns numbers to the right, shows NULL as ∅ and prints a row on one line', () => {
    expect(renderTable(parseRows(answer), Number.POSITIVE_INFINITY)).toEqual({
      cut: false,
      lines: [
        'title          chance  note',
        '─────────────  ──────  ─────────',
        'Rain tomorrow    0.25  a',
        'Été                 ∅  two⏎lines',
      ],
    });
  });

  it('truncates the widest text, never a number, when the window is narrow', () => {
    const { lines, cut } = renderTable(parseRows(answer), 27);
    expect(cut).toBe(true);
    expect(lines[2]).toBe('Rain to…    0.25  a');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(27);
  });

  it('aligns decimal points', () => {
    const text = '["last","n"]\n["Float64","Int8"]\n["0.82","1"]\n["0.8","10"]\n["12","-5"]\n["ᴺᵁᴸᴸ","0"]';
    expect(renderTable(parseRows(text), 80).lines).toEqual([
      ' last   n',
      '─────  ──',
      ' 0.82   1',
      ' 0.8   10',
      '12     -5',
      '    ∅   0',
    ]);
  });

  it('rounds floats to 12 digits, and nothing else', () => {
    const text =
      '["a","b","c"]\n["Float64","Decimal(38, 18)","Nullable(Float64)"]\n' +
      '["0.30000000000000004","0.300000000000000004","nan"]\n["1e-20","1","-12345.5"]';
    expect(renderTable(parseRows(text), 80).lines.slice(2)).toEqual([
      '  0.3  0.300000000000000004       nan',
      '1e-20  1                     -12345.5',
    ]);
  });

  it('escapes characters that control a terminal or the direction of text', () => {
    const cell = 'a\u001b[2J\u0007\u009b1mb\u202ec\u2066\td\u007f';
    const { lines } = renderTable(parseRows(`["\\u001bn"]\n["String"]\n[${JSON.stringify(cell)}]`), 200);
    expect(lines[0]).toBe('\\x1bn');
    expect(lines[2]).toBe('a\\x1b[2J\\x07\\x9b1mb\\u202ec\\u2066\\x09d\\x7f');
  });

  it('shows the column names of an empty result', () => {
    expect(renderTable(parseRows('["a"]\n["Int8"]\n'), 80).lines).toEqual(['a', '─']);
  });
});

describe('the prompt', () => {
  it.each([
    ['SELECT 1;', true],
    ['SELECT 1 ;  ', true],
    ['SELECT 1', false],
    ["SELECT ';", false],
    ["SELECT ';';", true],
    ["SELECT 'it''s;", false],
    ['SELECT 1 -- ;', false],
    ['SELECT 1; -- done', true],
    ['SELECT 1 /* ;', false],
    ['SELECT "a;" ;', true],
  ])('takes %j as a whole statement: %s', (text, whole) => {
    expect(endsStatement(text)).toBe(whole);
  });
});
