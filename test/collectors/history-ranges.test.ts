import { describe, expect, it } from 'vitest';
import { HistoryRanges } from '../../collectors/streams/history-ranges.js';

const NOW = 1_770_000_000.5;

describe('the ranges of requested raw chance history', () => {
  it('begin before the last request that was answered, and end after the present', () => {
    const ranges = new HistoryRanges();
    expect(ranges.next('a', NOW)).toEqual({ event: 'a', from: 1_769_999_940, to: 1_770_000_061 });
    expect(ranges.onResponse('a')).toBeUndefined();
    expect(ranges.next('a', NOW + 15)).toMatchObject({ from: 1_769_999_980, to: 1_770_000_076 });
    expect(ranges.onResponse('a')).toBe(15);
    expect(ranges.next('a', NOW + 30).from).toBe(1_769_999_995);
  });

  it('are extended while requests are not answered, up to 10 minutes', () => {
    const ranges = new HistoryRanges();
    ranges.next('a', NOW);
    ranges.onResponse('a');
    ranges.cancel(ranges.next('a', NOW + 100), false);
    expect(ranges.onResponse('a')).toBeUndefined();
    expect(ranges.next('a', NOW + 200).from).toBe(1_769_999_980);
    expect(ranges.next('a', NOW + 5000).from).toBe(1_770_004_400);
  });

  it('of a late response are those of its own request', () => {
    const ranges = new HistoryRanges();
    ranges.next('a', NOW);
    ranges.onResponse('a');
    const slow = ranges.next('a', NOW + 20);
    ranges.cancel(slow, true);
    const other = ranges.next('b', NOW + 26);
    expect(ranges.responseOf('b')).toEqual({ range: other, late: false });
    expect(ranges.responseOf('a')).toEqual({ range: slow, late: true });
    expect(ranges.onResponse('a')).toBe(20);
    expect(ranges.responseOf('a')).toBeUndefined();
    expect(ranges.pending).toBe(other);
    ranges.cancel(other, true);
    ranges.onConnected();
    expect(ranges.responseOf('b')).toBeUndefined();
  });

  it('are of each event alone', () => {
    const ranges = new HistoryRanges();
    ranges.next('a', NOW);
    expect(ranges.onResponse('b')).toBeUndefined();
    expect(ranges.pending).toMatchObject({ event: 'a' });
    ranges.onResponse('a');
    expect(ranges.pending).toBeUndefined();
    expect(ranges.next('b', NOW + 15).from).toBe(1_769_999_955);
    ranges.onResponse('b');
    ranges.remove('a');
    expect(ranges.next('a', NOW + 30).from).toBe(1_769_999_970);
  });
});
