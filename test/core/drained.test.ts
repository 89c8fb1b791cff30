import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { drained, Stopped } from '../../core/index.js';

/** A stream whose reader reads on demand, and the text that it has read. */
function reader() {
  const taken: string[] = [];
  let take: () => void = () => undefined;
  const out = new Writable({
    write(chunk, _, done) {
      take = () => {
        taken.push(String(chunk));
        done();
      };
    },
  });
  return { out, taken, take: () => take() };
}

describe('written output', () => {
  it('is drained when its reader has read all of it, and no earlier', async () => {
    const { out, taken, take } = reader();
    let over = false;
    // Far below the stream's high-water mark.
    out.write('one');
    out.write('two');
    const done = drained(out).then(() => {
      over = true;
    });
    while (taken.length < 2) {
      await new Promise(setImmediate);
      expect(over).toBe(false);
      take();
    }
    await new Promise(setImmediate);
    take();
    await done;
    expect(taken.join('')).toBe('onetwo');
  });

  it('is not waited for after a signal', async () => {
    const stop = new AbortController();
    const { out } = reader();
    out.write('one');
    const done = drained(out, stop.signal);
    stop.abort(new Stopped('SIGINT'));
    await expect(done).rejects.toThrow(Stopped);
    await expect(drained(out, stop.signal)).rejects.toThrow(Stopped);
  });
});
