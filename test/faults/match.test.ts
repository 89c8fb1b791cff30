import { describe, expect, it } from 'vitest';
import { match } from './match.js';

const at = (seconds: number, key: string) => ({ key, at: seconds * 1e6 });

describe('the match of changes and rows', () => {
  it('finds each change in the first row with its values soon after it', () => {
    const changes = [at(1, 'a'), at(2, 'b'), at(3, 'a')];
    expect(match(changes, [at(1.001, 'a'), at(2.002, 'b'), at(2.999, 'a')])).toEqual({ lost: [], surplus: [] });
  });

  it('has lost changes, and rows that are no change or the second one of it', () => {
    const rows = [at(1.01, 'a'), at(1.02, 'a'), at(5, 'c')];
    expect(match([at(1, 'a'), at(2, 'b')], rows)).toEqual({ lost: [at(2, 'b')], surplus: [at(1.02, 'a'), at(5, 'c')] });
  });

  it('does not take the row of a later change for that of a lost one with the same values', () => {
    expect(match([at(1, 'a'), at(3, 'a')], [at(3.01, 'a')])).toEqual({ lost: [at(1, 'a')], surplus: [] });
  });

  it('takes a late row for that of the latest change with the same values', () => {
    expect(match([at(1, 'a'), at(3, 'a')], [at(4, 'a')])).toEqual({ lost: [at(1, 'a')], surplus: [] });
  });

  it('finds changes whose rows are late or in another order', () => {
    const rows = [at(6, 'b'), at(6.1, 'a')];
    expect(match([at(1, 'a'), at(2, 'b')], rows)).toEqual({ lost: [], surplus: [] });
  });

  it('does not find a change in a row before it, or long after it', () => {
    expect(match([at(10, 'a')], [at(9, 'a'), at(30, 'a')]).lost).toEqual([at(10, 'a')]);
  });
});
