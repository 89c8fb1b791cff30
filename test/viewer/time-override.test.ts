import { describe, expect, it } from 'vitest';
import { relativeRange } from '../../viewer/index.js';
import { panelTime, type TimeOverride } from '../../viewer/time-override.js';

const now = new Date('2026-11-21T12:00:00Z');
const timeOf = (override: TimeOverride, from = 'now-6h', to = 'now-1h') => {
  const range = relativeRange(from, to, now);
  const isRelative = `${from}${to}`.includes('now');
  const { range: own, text } = panelTime(override, { range, isRelative }, now);
  return [own.from.toISOString().slice(8, 16), own.to.toISOString().slice(8, 16), text];
};

describe("a panel's own time", () => {
  it('is that of the dashboard without one', () => {
    expect(timeOf({})).toEqual(['21T06:00', '21T11:00', '']);
  });

  it('replaces a relative range by one that ends now, and leaves an absolute one', () => {
    expect(timeOf({ timeFrom: '1h' })).toEqual(['21T11:00', '21T12:00', 'Last 1 hour']);
    const [from, to] = [String(now.getTime() - 7_200_000), String(now.getTime())];
    expect(timeOf({ timeFrom: '1h' }, from, to)).toEqual(['21T10:00', '21T12:00', '']);
  });

  it('begins with the day, in UTC', () => {
    expect(timeOf({ timeFrom: 'now/d' })).toEqual(['21T00:00', '21T12:00', 'Today so far']);
    expect(timeOf({ timeFrom: 'now/w' })).toEqual(['16T00:00', '21T12:00', 'now/w to now']);
    expect(timeOf({ timeFrom: '1M' })).toEqual(['21T12:00', '21T12:00', 'Last 1 month']);
    expect(timeOf({ timeFrom: '1d/d' })).toEqual(['20T00:00', '21T12:00', 'Last 1 day']);
    expect(timeOf({ timeFrom: '36h' })).toEqual(['20T00:00', '21T12:00', 'Last 36 hours']);
    expect(timeOf({}, 'now-1d/d', 'now-1d/d')).toEqual(['20T00:00', '20T23:59', '']);
  });

  it('is moved back by a shift', () => {
    expect(timeOf({ timeShift: '1d' })).toEqual(['20T06:00', '20T11:00', 'timeshift -1d']);
    expect(timeOf({ timeShift: '1M' }, '2026-03-31T12:00:00Z', '2026-03-31T13:00:00Z')).toEqual([
      '28T12:00',
      '28T13:00',
      'timeshift -1M',
    ]);
    expect(timeOf({ timeFrom: '30m', timeShift: '1w' })).toEqual([
      '14T11:30',
      '14T12:00',
      'Last 30 minutes, timeshift -1w',
    ]);
  });

  it('that is not a length of time is named', () => {
    for (const value of ['now/f', '1', 'h1', '1x', '--1h', '1h/d/'])
      for (const property of ['timeFrom', 'timeShift'])
        expect(() => timeOf({ [property]: value })).toThrow(
          `the viewer does not support ${property} ${JSON.stringify(value)}`,
        );
    expect(() => timeOf({ timeShift: '999999999w' })).toThrow('beyond what a date can be');
  });
});
