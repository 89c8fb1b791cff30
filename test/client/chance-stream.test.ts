import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ChanceMessage,
  ChanceStream,
  type ChanceStreamOptions,
  type DisconnectedEvent,
  type StreamHistoryOptions,
} from '../../client/index.js';
import { ManualClock } from '../support/clocks.js';
import { type Connection, recorder, StreamServer } from './support.js';

async function open(options: Partial<ChanceStreamOptions> = {}) {
  const server = await StreamServer.open();
  const messages = recorder<ChanceMessage>();
  const disconnected = recorder<DisconnectedEvent>();
  const stream = new ChanceStream({
    addresses: { base: server.base },
    reconnectBaseMs: 1,
    reconnectCapMs: 20,
    onMessage: messages,
    onDisconnected: disconnected,
    ...options,
  });
  onTestFinished(() => stream.close());
  return { server, stream, messages, disconnected };
}

/** Connected, with one confirmed subscription of event `e` with market `m`. */
async function subscribed(options: Partial<ChanceStreamOptions> = {}) {
  const it = await open(options);
  it.stream.subscribe('e', ['m']);
  it.stream.start();
  const connection = await it.server.next();
  await connection.message();
  connection.send(initial('m'));
  connection.send(success);
  await it.messages.next();
  await it.messages.next();
  return { ...it, connection };
}

const success = { t: 'success', d: { message: 'ok' } };
const initial = (market: string) => ({ t: 'probability', e: 'e', o: [market], d: { [market]: { t: 1, p: 0.5 } } });
const answer = (market: string, p: number) => ({ t: 'HISTORY_RESPONSE', e: 'e', d: { [market]: [{ t: 100, p }] } });

const ask = (stream: ChanceStream, market = 'm', options: StreamHistoryOptions = {}) =>
  stream.history({ eventId: 'e', marketIds: [market], from: 100, to: 200 }, options);

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it did not fail',
    (error: Error) => error.message,
  );

/** The messages that the server has received, after a round trip. */
async function sentSoFar(connection: Connection): Promise<unknown[]> {
  const pong = new Promise((resolve) => connection.socket.once('pong', resolve));
  connection.socket.ping();
  await pong;
  return connection.received;
}

describe('the chance stream', () => {
  it('sends SUBSCRIBE with all markets of the event, UNSUBSCRIBE and HISTORY as documented [6.2/subscribe 6.2/unsubscribe]', async () => {
    const { stream, connection } = await subscribed();
    expect(connection.url).toBe('/ws');
    expect(connection.received).toEqual([{ t: 'SUBSCRIBE', e: 'e', o: ['m'] }]);
    stream.subscribe('e', ['m2', 'm3']);
    expect(await connection.message()).toEqual({ t: 'SUBSCRIBE', e: 'e', o: ['m', 'm2', 'm3'] });
    stream.unsubscribe('e', ['m2', 'unknown']);
    expect(await connection.message()).toEqual({ t: 'UNSUBSCRIBE', o: ['m2'] });
    expect(stream.subscriptions).toEqual(new Map([['e', new Set(['m', 'm3'])]]));
    stream.unsubscribe('e');
    expect(await connection.message()).toEqual({ t: 'UNSUBSCRIBE', o: ['m', 'm3'] });
    expect(stream.subscriptions.size).toBe(0);
    for (let n = 0; n < 3; n++) connection.send(success);
    const raw = ask(stream, 'm');
    expect(await connection.message()).toEqual({
      t: 'HISTORY',
      e: 'e',
      o: ['m'],
      d: { f: '1970-01-01T00:01:40.000Z', t: '1970-01-01T00:03:20.000Z' },
    });
    connection.send(answer('m', 0.4));
    const { series, invalidEntries, frame } = await raw;
    expect(series).toEqual([{ marketId: 'm', points: [{ time: 100, probability: 0.4 }] }]);
    expect(invalidEntries).toEqual([]);
    expect(frame.bodyJson).toBe(JSON.stringify(answer('m', 0.4)));
    void stream.history({ eventId: 'e', marketIds: ['a', 'b'], period: '5M', from: 0, to: 1 }).catch(() => undefined);
    expect(await connection.message()).toMatchObject({ o: ['a', 'b'], d: { p: '5M' } });
  });

  it('refuses a HISTORY that cannot be sent [6.2/history]', async () => {
    const { stream } = await open();
    const query = { eventId: 'e', marketIds: ['m'], from: 0, to: 1 };
    expect(await reasonOf(stream.history({ ...query, period: '1h' }))).toContain('period is "1h"');
    expect(await reasonOf(stream.history({ ...query, to: Number.POSITIVE_INFINITY }))).toContain('to is Infinity');
  });

  it('passes on live points, aggregated points and confirmations as messages [6.2/update-history]', async () => {
    const { connection, messages } = await subscribed();
    connection.send({ t: 'probability', e: 'e', o: ['m'], d: { t: 2, p: 0.6 } });
    connection.send({ t: 'UPDATE_HISTORY', e: 'e', o: ['m'], d: { t: 3, p: 0.7 } });
    expect(await messages.next()).toMatchObject({
      type: 'probability',
      initial: false,
      points: [{ probability: 0.6 }],
    });
    expect(await messages.next()).toMatchObject({ type: 'aggregated', points: [{ probability: 0.7 }] });
    expect(messages.calls.slice(0, 2)).toMatchObject([{ type: 'probability', initial: true }, { type: 'success' }]);
  });

  it('has one HISTORY in flight, in order, and matches each with its own response [6.2/history]', async () => {
    const { stream, connection } = await subscribed();
    const asked = ['a', 'b', 'c'].map((market) => ask(stream, market));
    for (const [n, market] of ['a', 'b', 'c'].entries()) {
      expect(await connection.message()).toMatchObject({ t: 'HISTORY', o: [market] });
      expect((await sentSoFar(connection)).length).toBe(2 + n);
      connection.send(answer(market, 0.1 * n));
    }
    const answers = await Promise.all(asked);
    expect(answers.map((a) => a.series[0]?.marketId)).toEqual(['a', 'b', 'c']);
  });

  it('sends no HISTORY before subscriptions are confirmed, and no subscription while a HISTORY is in flight', async () => {
    const { stream, connection } = await subscribed();
    stream.subscribe('e', ['m2']);
    await connection.message();
    const asked = ask(stream);
    expect((await sentSoFar(connection)).length).toBe(2);
    connection.send(success);
    expect(await connection.message()).toMatchObject({ t: 'HISTORY' });
    stream.subscribe('e3', ['m3']);
    expect((await sentSoFar(connection)).length).toBe(3);
    connection.send(answer('m', 0.5));
    await asked;
    expect(await connection.message()).toMatchObject({ t: 'SUBSCRIBE', e: 'e3' });
  });

  it('matches an error to the HISTORY in flight, else to a subscription [7.3/chance]', async () => {
    const { stream, connection } = await subscribed();
    stream.subscribe('nowhere', ['x']);
    await connection.message();
    const first = ask(stream);
    connection.send({ t: 'error', r: 'unknown event nowhere' });
    expect(await connection.message()).toMatchObject({ t: 'HISTORY' });
    connection.send({ r: 'more than 10000 points' });
    expect(await reasonOf(first)).toBe(
      `HISTORY of event e on ${stream.url}: the exchange refused it (more than 10000 points); check the IDs and the range`,
    );
    const second = ask(stream);
    await connection.message();
    connection.send(answer('m', 0.3));
    expect((await second).series[0]?.points).toEqual([{ time: 100, probability: 0.3 }]);
  });

  it('ignores a response for other markets or another event', async () => {
    const { stream, connection } = await subscribed();
    const asked = ask(stream);
    await connection.message();
    connection.send(answer('other', 0.1));
    connection.send({ ...answer('m', 0.2), e: 'elsewhere' });
    connection.send({ ...answer('m', 0.3), e: null });
    expect((await asked).series[0]?.points[0]?.probability).toBe(0.3);
  });

  it('retries only a HISTORY that times out: its late response is told from others by its event', async () => {
    const { stream, connection } = await subscribed();
    const slow = ask(stream, 'm', { timeoutMs: 80 });
    const next = stream.history({ eventId: 'e2', marketIds: ['m2'], from: 100, to: 200 });
    expect(await connection.message()).toMatchObject({ t: 'HISTORY', e: 'e' });
    expect(await reasonOf(slow)).toContain('did not respond in time; try again, or increase the timeout (80 ms)');
    expect(stream.isHistoryLate('e')).toBe(true);
    // It does not wait for the late response.
    expect(await connection.message()).toMatchObject({ t: 'HISTORY', e: 'e2' });
    connection.send(answer('m', 0.1));
    connection.send({ ...answer('m2', 0.2), e: 'e2' });
    expect((await next).series[0]?.points[0]?.probability).toBe(0.2);
    expect(stream.isHistoryLate('e')).toBe(false);
    const again = ask(stream, 'm');
    expect(await connection.message()).toMatchObject({ t: 'HISTORY', e: 'e' });
    connection.send(answer('m', 0.3));
    expect((await again).series[0]?.points[0]?.probability).toBe(0.3);
  });

  it('reconnects before another HISTORY of the event of which a response is late', async () => {
    const { server, stream, connection, disconnected } = await subscribed();
    const slow = ask(stream, 'm', { timeoutMs: 80 });
    const next = ask(stream, 'm');
    expect(await reasonOf(slow)).toContain('did not respond in time');
    expect((await disconnected.next()).cause).toBe('no response to HISTORY in time');
    expect(await connection.closed).toBe(1006);
    const second = await server.next();
    expect(await second.message()).toEqual({ t: 'SUBSCRIBE', e: 'e', o: ['m'] });
    second.send(initial('m'));
    second.send(success);
    expect(await second.message()).toMatchObject({ t: 'HISTORY' });
    second.send(answer('m', 0.9));
    expect((await next).series[0]?.points[0]?.probability).toBe(0.9);
  });

  it.each([
    ['an error', { t: 'error', r: 'something' }, 'it is not known to which request the error "something" belongs'],
    [
      'an empty response without an event',
      { t: 'HISTORY_RESPONSE', d: {} },
      'it is not known to which HISTORY an empty response belongs',
    ],
  ])('reconnects when %s may belong to a late HISTORY or to the one in flight', async (_, message, cause) => {
    const { stream, connection, disconnected } = await subscribed();
    const slow = reasonOf(ask(stream, 'm', { timeoutMs: 80 }));
    const next = reasonOf(stream.history({ eventId: 'e2', marketIds: ['m2'], from: 100, to: 200 }));
    await connection.message();
    await slow;
    await connection.message();
    connection.send(message);
    expect((await disconnected.next()).cause).toBe(cause);
    expect(await next).toContain('broke off its response');
    await stream.close();
  });

  it('reconnects when an error may belong to an overdue confirmation or to the HISTORY', async () => {
    const clock = new ManualClock();
    const { stream, connection, disconnected } = await subscribed({ confirmTimeoutMs: 300, clock });
    stream.subscribe('e2', ['m2']);
    await connection.message();
    const asked = reasonOf(ask(stream));
    await clock.advance(300);
    expect(await connection.message()).toMatchObject({ t: 'HISTORY' });
    connection.send({ t: 'error', r: 'something' });
    expect((await disconnected.next()).cause).toBe('it is not known to which request the error "something" belongs');
    expect(await asked).toContain('broke off its response');
  });

  it('rejects the HISTORY in flight when the connection is lost, and sends the ones that wait on the next', async () => {
    const { server, stream, connection } = await subscribed();
    const lost = reasonOf(ask(stream, 'a'));
    const waiting = ask(stream, 'b');
    await connection.message();
    connection.socket.terminate();
    expect(await lost).toMatch(/broke off its response; try again \(the connection ended without a close frame\)/);
    const second = await server.next();
    expect(await second.message()).toMatchObject({ t: 'SUBSCRIBE' });
    second.send(success);
    expect(await second.message()).toMatchObject({ t: 'HISTORY', o: ['b'] });
    second.send(answer('b', 0.5));
    expect((await waiting).series.length).toBe(1);
  });

  it('does not wait on a new connection for confirmations of the lost one', async () => {
    const { server, stream, connection } = await subscribed();
    stream.subscribe('e2', ['m2']);
    await connection.message();
    const waiting = ask(stream);
    connection.socket.terminate();
    const second = await server.next();
    expect([await second.message(), await second.message()]).toMatchObject([{ o: ['m'] }, { o: ['m2'] }]);
    second.send(success);
    expect((await sentSoFar(second)).length).toBe(2);
    second.send(success);
    expect(await second.message()).toMatchObject({ t: 'HISTORY' });
    second.send(answer('m', 0.5));
    expect((await waiting).series.length).toBe(1);
  });

  it('keeps an aborted HISTORY in flight until its response is received', async () => {
    const { stream, connection } = await subscribed();
    const abort = new AbortController();
    const aborted = reasonOf(ask(stream, 'm', { signal: abort.signal }));
    const never = reasonOf(ask(stream, 'never', { signal: abort.signal }));
    const next = ask(stream, 'm');
    await connection.message();
    abort.abort(new Error('enough'));
    expect([await aborted, await never]).toEqual(['enough', 'enough']);
    expect(await reasonOf(ask(stream, 'm', { signal: abort.signal }))).toBe('enough');
    expect((await sentSoFar(connection)).length).toBe(2);
    connection.send(answer('m', 0.1));
    expect(await connection.message()).toMatchObject({ t: 'HISTORY', o: ['m'] });
    connection.send(answer('m', 0.2));
    expect((await next).series[0]?.points[0]?.probability).toBe(0.2);
  });

  it('times out a HISTORY that never gets a connection, without harm to others', async () => {
    const clock = new ManualClock();
    const { stream } = await open({ clock });
    const asked = reasonOf(ask(stream, 'm', { timeoutMs: 1000 }));
    await clock.advance(1000);
    expect(await asked).toContain('did not respond in time');
  });

  it('rejects everything that waits when it is closed', async () => {
    const { stream, connection } = await subscribed();
    const pending = [ask(stream, 'a'), ask(stream, 'b')].map(reasonOf);
    await connection.message();
    await stream.close();
    await stream.close();
    for (const reason of [...(await Promise.all(pending)), await reasonOf(ask(stream))]) {
      expect(reason).toContain('the stream was closed');
    }
    const other = await subscribed();
    const abort = new AbortController();
    const signalled = await open();
    signalled.stream.start(abort.signal);
    await signalled.server.next();
    const waiting = reasonOf(ask(signalled.stream));
    abort.abort();
    expect(await waiting).toMatch(/the stream was closed|broke off/);
    await other.stream.close();
  });

  it('is read as an iterable', async () => {
    const { stream, connection } = await subscribed();
    const reader = stream[Symbol.asyncIterator]();
    connection.send({ t: 'probability', e: 'e', o: ['m'], d: { t: 9, p: 0.25 } });
    const { value } = await reader.next();
    expect(value).toMatchObject({
      type: 'message',
      message: { points: [{ marketId: 'm', time: 9, probability: 0.25 }] },
    });
  });
});
