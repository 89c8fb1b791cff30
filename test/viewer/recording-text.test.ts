import { describe, expect, it } from 'vitest';
import { recordingText } from '../../viewer/display/recording-text.js';

const state = (newestSeconds: number | null, missing: number | null = null, liveCollectors = 1) => ({
  state: { liveCollectors, newestSeconds, missing },
});
const textOf = (...parameters: Parameters<typeof recordingText>) => recordingText(...parameters).text;

describe('the header of a page', () => {
  it('says whether recording runs, and what was missing', () => {
    expect(recordingText(state(1.2, 0.004), 0)).toEqual({
      text: 'recording, newest record 1 s old, 0.4% missing in the last hour',
      level: 'good',
    });
    const late = { text: 'recording has stopped or is late, newest record 20 s old', level: 'bad' };
    expect(recordingText(state(20), 0)).toEqual(late);
    expect(recordingText(state(1, null, 0), 0).level).toBe('bad');
    expect(recordingText(state(null), 0)).toEqual({ text: 'nothing is recorded yet', level: 'none' });
    expect(recordingText({ problem: 'ClickHouse is not running' }, 0)).toEqual({
      text: 'ClickHouse is not running',
      level: 'bad',
    });
  });

  it('lets the age of the newest record grow while the next state is overdue, and then knows nothing', () => {
    expect(textOf(state(1), 5000)).toBe('recording, newest record 1 s old');
    expect(textOf(state(1), 12_000)).toBe('recording, newest record 13 s old');
    const unknown = { text: 'no answer for 21 s: not known whether it is recording', level: 'bad' };
    expect(recordingText(state(1), 21_000)).toEqual(unknown);
    expect(recordingText({ problem: 'ClickHouse is not running' }, 21_000)).toEqual(unknown);
    expect(recordingText(undefined, 21_000)).toEqual(unknown);
  });

  it('names ages in seconds, minutes, hours and days', () => {
    const ages = [99, 120, 7200, 326 * 86_400].map((seconds) => textOf(state(seconds), 0).split('record ')[1]);
    expect(ages).toEqual(['99 s old', '2 min old', '2.0 h old', '326 days old']);
  });
});
