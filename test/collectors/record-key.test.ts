import { describe, expect, it } from 'vitest';
import type { StreamFrame } from '../../client/index.js';
import { keyOf } from '../../collectors/streams/order-book-feed.js';
import { Subscription } from '../../collectors/streams/subscription.js';
import { encodeBody } from '../../core/index.js';

const subscriptions = new Map([['e1', new Subscription('e1', ['m1'], 0)]]);

function keyOfText(text: string): string {
  const data = Buffer.from(text);
  const frame: StreamFrame = { connection: 'c1', receivedAtMicros: 1, data, binary: false, ...encodeBody(data) };
  return keyOf(frame, { subscriptions });
}

describe('the key of a frame', () => {
  it('is its event, or the connection when it names none', () => {
    expect(keyOfText('{"t":"PRICES_DATA","e":"e1","d":[]}')).toBe('e1');
    expect(keyOfText('{"t":"PRICES_DATA","e":"unknown","d":[]}')).toBe('unknown');
    expect(keyOfText('{"t":"PING"}')).toBe('c1');
    expect(keyOfText('{"e":""}')).toBe('c1');
  });

  it('is the event that a frame which cannot be parsed names, when that is subscribed', () => {
    expect(keyOfText('{"t":"PRICES_DATA","e":"e1","d":[{"o":')).toBe('e1');
    expect(keyOfText(`{"t":"PRICES_DATA", "e" : "e1","d":[${'{},'.repeat(1_000_000)}{}]}`)).toBe('e1');
    expect(keyOfText('{"t":"PRICES_DATA","e":"unknown","d":[{"o":')).toBe('c1');
    expect(keyOfText('nonsense')).toBe('c1');
  });
});
