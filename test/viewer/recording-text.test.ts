import { describe, expect, it } from 'vitest';
import { recordingText } from '../../viewer/display/recording-text.js';

const state = (newestSeconds: number | null, missing: number | null = 0, liveCollectors = 1, liveStreams = 2) => ({
  state: { liveCollectors, newestSeconds, openStreams: 2, liveStreams, missing },
});
const textOf = (...parameters: Parameters<typeof recordingText>) => recordingText(...parameters).text;

describe('the header of a page', () => {
  it('says whether recording runs, and what was missing', () => {
    expect(recordingText(state(1.2, 0.004), 0)).toEqual({
      text: 'recording, newest record 1 s old, 0.4% missing in the last hour',
      level: 'good',
    });
    const late = {
      text: 'recording has stopped or is late, newest record 20 s old, nothing missing in the last hour',
      level: 'bad',
    };
    expect(recordingText(state(20), 0)).toEqual(late);
    expect(recordingText(state(1, 0, 0), 0).level).toBe('bad');
    expect(textOf(state(1, null), 0)).toBe('recording, newest record 1 s old, no event was open in the last hour');
    expect(recordingText(state(null), 0)).toEqual({ text: 'nothing is recorded yet', level: 'none' });
    expect(recordingText({ problem: 'ClickHouse is not running' }, 0)).toEqual({
      text: 'ClickHouse is not running',
      level: 'bad',
    });
  });

  it('is red when the collector runs and observes nothing', () => {
    expect(recordingText(state(1, 0.2, 1, 0), 0)).toEqual({
      text: 'the collector runs, but observes none of the open events, 20.0% missing in the last hour',
      level: 'bad',
    });
  });

  it('lets the age of the newest record grow while the next state is overdue, and then knows nothing', () => {
    expect(textOf(state(1), 5000)).toBe('recording, newest record 1 s old, nothing missing in the last hour');
    expect(textOf(state(1), 12_000)).toBe('recording, newest record 13 s old, nothing missing in the last hour');
    expect(recordingText(state(4), 12_000).level).toBe('bad');
    const unknown = { text: 'no answer for 21 s: not known whether it is recording', level: 'bad' };
    expect(recordingText(state(1), 21_000)).toEqual(unknown);
    expect(recordingText({ problem: 'ClickHouse is not running' }, 21_000)).toEqual(unknown);
    expect(recordingText(undefined, 21_000)).toEqual(unknown);
  });

  it('names ages in seconds, minutes, hours and days', () => {
    const ages = [99, 120, 7200, 326 * 86_400].map(
      (seconds) => textOf(state(seconds), 0).split('record ')[1]?.split(',')[0],
    );
    expect(ages).toEqual(['99 s old', '2 min old', '2.0 h old', '326 days old']);
  });
});
