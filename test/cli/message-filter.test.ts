import { describe, expect, it } from 'vitest';
import { MessageFilter } from '../../cli/up/message-filter.js';

const line = (level: number, msg: string, err?: string, fields = {}) =>
  JSON.stringify({ level, time: 0, service: 'collect', msg, ...fields, ...(err ? { err: { message: err } } : {}) });

describe('the messages of up', () => {
  it('are warnings and errors of the parts, with their cause, and nothing else', () => {
    const filter = new MessageFilter(() => 0);
    expect(filter.messageOf('collect', line(30, 'subscribed'))).toBeUndefined();
    expect(filter.messageOf('collect', 'chancery: said by the supervisor')).toBeUndefined();
    expect(filter.messageOf('collect', 'a stray line')).toBeUndefined();
    expect(filter.messageOf('collect', line(40, 'stream lost'))).toBe('collect: stream lost');
    expect(filter.messageOf('collect', line(50, 'poll failed', 'HTTP 500'))).toBe('collect: poll failed: HTTP 500');
    expect(filter.messageOf('collect', line(50, 'gave up: HTTP 500', 'HTTP 500'))).toBe('collect: gave up: HTTP 500');
  });

  it('contain the cause, from any field of the line, and the end of an outage', () => {
    const filter = new MessageFilter(() => 0);
    const open = line(40, 'it reads any file', undefined, { why: 'no Landlock' });
    expect(filter.messageOf('clickhouse', open)).toBe('clickhouse: it reads any file: no Landlock');
    expect(filter.messageOf('collect', line(40, 'lost', undefined, { cause: '' }))).toBe('collect: lost');
    const over = line(30, 'the exchange is back', undefined, { failures: 3, seconds: 1.5 });
    expect(filter.messageOf('collect', over)).toBe('collect: the exchange is back');
  });

  it('are not repeated within 30 s, then shown with the number of repetitions', () => {
    let now = 0;
    const filter = new MessageFilter(() => now);
    expect(filter.messageOf('a', line(40, 'x'))).toBe('a: x');
    now = 10_000;
    expect(filter.messageOf('a', line(40, 'x'))).toBeUndefined();
    expect(filter.messageOf('b', line(40, 'x'))).toBe('b: x');
    now = 29_999;
    expect(filter.messageOf('a', line(40, 'x'))).toBeUndefined();
    now = 30_000;
    expect(filter.messageOf('a', line(40, 'x'))).toBe('a: x (2 more times since then)');
    now = 60_000;
    expect(filter.messageOf('a', line(40, 'x'))).toBe('a: x');
  });
});
