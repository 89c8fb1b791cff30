import { inspect } from 'node:util';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  describeError,
  encodeBody,
  encodeEnvelope,
  type Health,
  HealthServer,
  Secret,
  systemClock,
  UsageError,
} from '../../core/index.js';

describe('a secret', () => {
  it('is shown by reveal() only', () => {
    const secret = new Secret('hunter2');
    expect(`${secret} ${JSON.stringify({ secret })} ${inspect({ secret })}`).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('the text of an error', () => {
  it('is one line with its causes, each once', () => {
    const cause = new Error('disk\n  is full');
    const error = new Error('cannot append', { cause: new Error('cannot write: disk\n  is full', { cause }) });
    expect(describeError(error)).toBe('cannot append: cannot write: disk is full');
    expect(describeError('a text')).toBe('a text');
    expect(describeError(new Error('', { cause: new Error('inner') }))).toBe('Error: inner');
  });
});

describe('an envelope', () => {
  const fields = {
    kind: 'order-book.frame',
    sessionId: 's',
    sequence: 3,
    receivedAt: 17,
    requestJson: '{"stream":"order-book"}',
  } as const;

  it('contains the received JSON byte for byte', () => {
    const received = Buffer.from('{ "p": 0.10, "p": 1e2 }');
    const { bodyJson, encoding: enc } = encodeBody(received);
    expect(enc).toBeUndefined();
    expect(encodeEnvelope({ ...fields, bodyJson })).toBe(
      '{"v":1,"kind":"order-book.frame","sid":"s","n":3,"at":17,"req":{"stream":"order-book"},"body":{ "p": 0.10, "p": 1e2 }}',
    );
  });

  it.each([
    ['text that is not JSON', Buffer.from('so "what"\n'), 'text'],
    ['nothing', Buffer.alloc(0), 'text'],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0x00, 0x80]), 'base64'],
  ] as const)('holds %s so that it can be had back', (_, received, enc) => {
    const encoded = encodeBody(received);
    expect(encoded.encoding).toBe(enc);
    const envelope = JSON.parse(encodeEnvelope({ ...fields, ...encoded, piece: { i: 0, of: 2 } })) as {
      enc: string;
      piece: unknown;
      body: string;
    };
    expect(envelope).toMatchObject({ enc, piece: { i: 0, of: 2 } });
    expect(Buffer.from(envelope.body, enc === 'text' ? 'utf8' : 'base64').equals(received)).toBe(true);
  });
});

describe('the clock', () => {
  it('never goes back, has whole microseconds, and sleeps until the time or an abort', async () => {
    let before = systemClock.nowMicros();
    for (let i = 0; i < 1000; i++) {
      const now = systemClock.nowMicros();
      expect(now).toBeGreaterThanOrEqual(before);
      expect(Number.isInteger(now)).toBe(true);
      before = now;
    }
    const [earliest, now, latest] = [Date.now(), systemClock.nowMs(), Date.now()];
    expect(now).toBeGreaterThan(earliest - 10);
    expect(now).toBeLessThan(latest + 10);
    const stop = new AbortController();
    const sleeping = systemClock.sleep(60_000, stop.signal);
    stop.abort(new Error('woken'));
    await expect(sleeping).rejects.toThrow('woken');
  });
});

describe('the health server', () => {
  async function serve(health: () => Health, port = 0): Promise<HealthServer> {
    const registry = new Registry();
    new Gauge({ name: 'things', help: 'how many', registers: [registry] }).set(4);
    const server = new HealthServer({ port }, registry, health);
    onTestFinished(() => server.stop());
    await server.start();
    return server;
  }

  it('serves the health with its cause, and the metrics', async () => {
    let health: Health = { ok: true, detail: { rows: 3 } };
    const { url } = await serve(() => health);
    const well = await fetch(`${url}/healthz`);
    expect([well.status, await well.json()]).toEqual([200, { ok: true, rows: 3 }]);
    health = { ok: false, detail: { cause: 'no bus' } };
    const ill = await fetch(`${url}/healthz`);
    expect([ill.status, await ill.json()]).toEqual([503, { ok: false, cause: 'no bus' }]);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('things 4');
    expect((await fetch(`${url}/else`)).status).toBe(404);
  });

  it('rejects a taken port with a clear message', async () => {
    const { url } = await serve(() => ({ ok: true }));
    const port = Number(new URL(url).port);
    await expect(serve(() => ({ ok: true }), port)).rejects.toThrow(UsageError);
    await expect(serve(() => ({ ok: true }), port)).rejects.toThrow(`port ${port} on 127.0.0.1 is taken`);
  });
});
