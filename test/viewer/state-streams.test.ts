import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UnavailableError } from '../../core/index.js';
import type { RecordingState } from '../../viewer/recording-state.js';
import { StateStreams } from '../../viewer/state-streams.js';

const INTERVAL_MS = 5;
const STATE = { liveCollectors: 1, newestSeconds: 0.5, openStreams: 2, liveStreams: 2, missing: 0 };

function streamsOf(ask: () => Promise<RecordingState>): StateStreams {
  const streams = new StateStreams('start', ask, INTERVAL_MS);
  onTestFinished(() => streams.stop());
  return streams;
}

/** The first event of a stream. */
const eventOf = (stream: PassThrough) =>
  new Promise<string>((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('data: ')) resolve(text);
    });
  });

describe('the stream of the state of recording', () => {
  it('is asked for once for all browsers, and not while there are none', async () => {
    let asked = 0;
    const streams = streamsOf(async () => ({ ...STATE, liveCollectors: ++asked }));
    const browsers = Array.from({ length: 200 }, () => new PassThrough());
    for (const one of browsers) streams.add(one, undefined);
    const events = await Promise.all(browsers.map(eventOf));
    expect(new Set(events)).toEqual(
      new Set([`:\n\nid: start-1\nevent: state\ndata: ${JSON.stringify({ ...STATE, liveCollectors: 1 })}\n\n`]),
    );
    for (const one of browsers) one.destroy();
    await expect.poll(() => streams.count).toBe(0);
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 4 * INTERVAL_MS));
    expect(asked - before).toBeLessThanOrEqual(1);
  });

  it('resumes after the event that the browser received last', async () => {
    const streams = new StateStreams('start', async () => STATE, 60_000);
    onTestFinished(() => streams.stop());
    const first = new PassThrough();
    streams.add(first, undefined);
    await eventOf(first);
    const [resumed, other] = [new PassThrough(), new PassThrough()];
    streams.add(resumed, 'start-1');
    streams.add(other, 'another-1');
    expect(resumed.read().toString()).toBe(':\n\n');
    expect(other.read().toString()).toContain('id: start-1\n');
  });

  it('names why the state is not known, and ends for a browser that does not read', async () => {
    const streams = streamsOf(() => Promise.reject(new UnavailableError('x'.repeat(2_000_000))));
    const [slow, fast] = [new PassThrough(), new PassThrough()];
    streams.add(slow, undefined);
    streams.add(fast, undefined);
    expect(await eventOf(fast)).toContain('event: problem\ndata: "xxx');
    await expect.poll(() => slow.destroyed).toBe(true);
    expect(fast.destroyed).toBe(false);
  });

  it('is for at most 500 browsers', () => {
    const streams = streamsOf(async () => STATE);
    for (let i = 0; i < 500; i++) {
      expect(streams.isFull).toBe(false);
      streams.add(new PassThrough(), undefined);
    }
    expect(streams.isFull).toBe(true);
  });
});
