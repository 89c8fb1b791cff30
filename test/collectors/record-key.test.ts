import { describe, expect, it } from 'vitest';
import type { StreamFrame } from '../../client/index.js';
import { eventOf } from '../../collectors/streams/event-feed.js';
import { Subscription } from '../../collectors/streams/subscription.js';
import { encodeBody } from '../../core/index.js';

const subscriptions = new Map([['e1', new Subscription('e1', ['m1'], 0)]]);

function eventOfText(text: string): string {
  const data = Buffer.from(text);
  const times = { receivedAtMicros: 1, completeUntilMicros: 1, waitedMs: 0 };
  const frame: StreamFrame = { connectionId: 'c1', ...times, data, binary: false, ...encodeBody(data) };
  return eventOf(frame, { subscriptions });
}

describe('the key of a frame', () => {
  it('is its event, or its connection when it names none', () => {
    expect(eventOfText('{"t":"PRICES_DATA","e":"e1","d":[]}')).toBe('e1');
    expect(eventOfText('{"t":"PRICES_DATA","e":"unknown","d":[]}')).toBe('unknown');
    expect(eventOfText('{"t":"PING"}')).toBe('c1');
    expect(eventOfText('{"e":""}')).toBe('c1');
  });

  it('is also found in a frame that cannot be parsed, when that event is subscribed', () => {
    expect(eventOfText('{"t":"PRICES_DATA","e":"e1","d":[{"o":')).toBe('e1');
    expect(eventOfText(`{"t":"PRICES_DATA", "e" : "e1","d":[${'{},'.repeat(1_000_000)}{}]}`)).toBe('e1');
    expect(eventOfText('{"t":"PRICES_DATA","e":"unknown","d":[{"o":')).toBe('c1');
    expect(eventOfText('nonsense')).toBe('c1');
  });
});
