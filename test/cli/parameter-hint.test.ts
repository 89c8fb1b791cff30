import { describe, expect, it } from 'vitest';
import { parameterHint } from '../../cli/sql/parameter-hint.js';
import { viewFiles } from '../../warehouse/index.js';

const UNKNOWN_IDENTIFIER = '47';

describe('the hint for a view without its parameters', () => {
  it('names all of them', () => {
    expect(parameterHint('SELECT * FROM equity_curve LIMIT 1', UNKNOWN_IDENTIFIER)).toBe(
      "; equity_curve needs parameters: equity_curve(period_seconds = 60, price = 'chance')",
    );
  });

  it('has an example of each parameter of each view', () => {
    const views = viewFiles();
    const hints = views.map(({ name }) => parameterHint(`SELECT * FROM ${name}`, UNKNOWN_IDENTIFIER, () => views));
    expect(hints.filter(Boolean).length).toBeGreaterThan(10);
    expect(hints.filter((hint) => hint.includes('…'))).toEqual([]);
  });

  it('is empty when they are given, and for other failures', () => {
    expect(parameterHint('SELECT nothing FROM candles(period_seconds = 60)', UNKNOWN_IDENTIFIER)).toBe('');
    expect(parameterHint('SELECT * FROM candles', '62')).toBe('');
  });
});
