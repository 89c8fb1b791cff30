import { describe, expect } from 'vitest';
import { Secret, systemClock, TOPICS } from '../../core/index.js';
import { startAccountMarket } from '../support/account-market.js';
import { concurrentIt as it } from '../support/at-end.js';
import { ResumedClock } from '../support/clocks.js';
import { until } from '../support/until.js';
import { POLL_OFTEN, recordsOfKind } from './account-rig.js';
import { startCollector } from './rig.js';

describe.concurrent('the private streams of a collector', () => {
  it('are recorded verbatim, live from AUTH on, and followed by a poll after a reconnect', async () => {
    const market = await startAccountMarket();
    const { ann } = market;
    const rig = await startCollector(market.exchange.url, { accounts: [ann.credentials] });
    const subscribed = (stream: string, times: number) =>
      rig.waitForEvents('subscribed', (found) => found.filter((one) => one.stream === stream).length === times);
    await subscribed('orders', 1);
    await subscribed('balance', 1);
    await market.fill('2');
    const frames = async (kind: 'account.order-frame' | 'account.balance-frame') =>
      (await recordsOfKind(rig, kind)).map(({ body }) => body as { t?: string; b?: number; d?: { s?: string } });
    await until(async () => (await frames('account.order-frame')).some(({ t }) => t === 'ORDER_UPDATE'));
    await until(async () => (await frames('account.balance-frame')).filter(({ t }) => t === undefined).length >= 2);
    const [hello] = await frames('account.order-frame');
    expect(hello).toEqual({ t: 'success', d: 'authorized', r: null });
    const [record] = await recordsOfKind(rig, 'account.balance-frame');
    const [connected] = (await rig.events('connected')).filter(({ stream }) => stream === 'balance');
    expect(record?.request).toEqual({ stream: 'balance', connection: connected?.connectionId, account: ann.name });
    expect(record?.body).toMatchObject({ t: 'success', d: { l: [{ b: 10_000, f: 10_000 }] } });

    const polls = async () => (await rig.events('poll')).filter(({ operation }) => operation === 'trades').length;
    const before = await polls();
    await market.fault('drop-connection', { stream: 'balance' });
    await market.fill('2');
    await subscribed('balance', 2);
    await until(async () => (await polls()) > before);
    const found = (await rig.events('disconnected')).filter(({ stream }) => stream === 'balance');
    expect(found.map(({ connectionId }) => connectionId)).toEqual([connected?.connectionId]);
  });

  it('are stale when their balances are not those of the polls', async () => {
    const market = await startAccountMarket();
    const rig = await startCollector(market.exchange.url, { accounts: [market.ann.credentials], settings: POLL_OFTEN });
    await rig.waitForEvents('subscribed', (found) => found.some(({ stream }) => stream === 'balance'));
    await market.fill('3');
    await market.fault('freeze', { stream: 'balance' });
    await market.fill('2');
    const [stale] = await rig.waitForEvents('stale', (found) => found.length > 0);
    expect(stale).toMatchObject({ stream: 'balance', event: market.ann.name });
    await rig.waitForEvents('subscribed', (found) => found.filter(({ stream }) => stream === 'balance').length === 2);
    await rig.waitForEvents('poll', (polls) =>
      polls.some((poll) => poll.operation === 'full-balances' && poll.startedAt > (stale?.lastVerifiedAt ?? 0)),
    );
  });

  it('have a gap in which their changes waited to be read, since their times are not known', async () => {
    const market = await startAccountMarket();
    const clock = new ResumedClock();
    const rig = await startCollector(market.exchange.url, { accounts: [market.ann.credentials], clock });
    const subscribed = (times: number) =>
      rig.waitForEvents('subscribed', (found) =>
        ['orders', 'balance'].every((one) => found.filter(({ stream }) => stream === one).length === times),
      );
    await subscribed(1);
    await market.fill('2');
    const updates = async () =>
      (await recordsOfKind(rig, 'account.balance-frame')).filter(
        ({ body }) => (body as { t?: string }).t === undefined,
      );
    await until(async () => (await updates()).length > 0);
    // As after a stop: the time has passed and the changes are there, when the collector reads and its timers run again.
    clock.stoppedMs = 60_000;
    market.fillInEngine(1);
    const stale = await rig.waitForEvents('stale', (found) =>
      ['orders', 'balance'].every((one) => found.some(({ stream }) => stream === one)),
    );
    for (const one of stale.filter(({ stream }) => stream === 'orders' || stream === 'balance')) {
      expect(one).toMatchObject({ event: market.ann.name, cause: 'changes were read up to 60 s late' });
      expect(one.lastVerifiedAt).toBeLessThan(one.at);
    }
    await subscribed(2);
  });

  it('are complete up to polls with equal balances, also without a frame', async () => {
    const market = await startAccountMarket();
    const rig = await startCollector(market.exchange.url, { accounts: [market.ann.credentials], settings: POLL_OFTEN });
    await rig.waitForEvents('subscribed', (found) => found.some(({ stream }) => stream === 'balance'));
    const [connected] = (await rig.events('connected')).filter(({ stream }) => stream === 'balance');
    const connectionId = connected?.connectionId ?? '';
    const frames = async () => (await recordsOfKind(rig, 'account.balance-frame')).map(({ receivedAt }) => receivedAt);
    await until(async () => (await frames()).length > 0);
    const lastFrame = Math.max(...(await frames()));
    await rig.waitForEvents('heartbeat', (found) =>
      found.some(({ lastFrames }) => (lastFrames[connectionId] ?? 0) > lastFrame + 1_000_000),
    );
    expect(Math.max(...(await frames()))).toBe(lastFrame);
    await market.fault('drop-connection', { stream: 'balance' });
    const [lost] = await rig.waitForEvents('disconnected', (found) => found.some(({ stream }) => stream === 'balance'));
    expect(lost?.at).toBeGreaterThan(lastFrame + 1_000_000);
    expect(lost?.at).toBeLessThan(systemClock.nowMicros() - 2_000_000);
  });

  it('are stale when their heartbeats stop', async () => {
    const market = await startAccountMarket({ quirks: 'heartbeat=0.1' });
    const rig = await startCollector(market.exchange.url, {
      accounts: [market.ann.credentials],
      settings: { silenceMs: 1500 },
    });
    const pings = async () => {
      const frames = await recordsOfKind(rig, 'account.order-frame');
      return frames.filter(({ body }) => (body as { t?: string }).t === 'PING').length;
    };
    await until(async () => (await pings()) > 3);
    expect((await rig.events('stale')).filter(({ stream }) => stream === 'orders')).toEqual([]);
    await market.fault('freeze', { stream: 'orders' });
    const isOfOrders = ({ stream }: { stream: string }) => stream === 'orders';
    const stale = (await rig.waitForEvents('stale', (found) => found.some(isOfOrders))).find(isOfOrders);
    expect(stale?.cause).toMatch(/^no heartbeat for \d{4} ms$/);
    await rig.waitForEvents('subscribed', (found) => found.filter(({ stream }) => stream === 'orders').length === 2);
  });

  it('are not reported as stale where the exchange sends no heartbeats', async () => {
    const market = await startAccountMarket({ quirks: 'heartbeat=off' });
    const rig = await startCollector(market.exchange.url, {
      accounts: [market.ann.credentials],
      settings: { silenceMs: 100 },
    });
    await rig.waitForEvents('subscribed', (found) => found.some(({ stream }) => stream === 'orders'));
    await rig.waitForEvents('heartbeat', (found) => found.length >= 4);
    const ends = [...(await rig.events('stale')), ...(await rig.events('disconnected'))];
    expect(ends.filter(({ stream }) => stream === 'orders')).toEqual([]);
  });

  it('and polls of an account whose key is rejected fail alone, are logged once, and are retried less and less often', async () => {
    const market = await startAccountMarket();
    const { ann, bob } = market;
    const apiKey = { key: 'pk_wrong', secret: new Secret(bob.secrets[0] ?? '') };
    const wrong = { name: 'aaa', apiKey, login: { email: 'nobody@example.com', password: new Secret('not-the-one') } };
    const rig = await startCollector(market.exchange.url, { accounts: [wrong, ann.credentials], settings: POLL_OFTEN });
    await market.fill();
    const of = async (subject: string) => (await rig.events('poll')).filter((poll) => poll.subject === subject);
    await until(async () => (await of(ann.name)).filter(({ operation }) => operation === 'trades').length >= 4);
    // The activity feed is polled with the other account's key.
    await until(async () => (await of('activity')).some(({ outcome }) => outcome === 'complete'));
    await until(async () => (await of('aaa')).some(({ operation }) => operation === 'transactions'));
    await until(() => rig.lines.some(({ msg }) => msg.startsWith('account aaa: AUTH on the order updates stream')));
    const refused = await of('aaa');
    expect(new Set(refused.map(({ outcome }) => outcome))).toEqual(new Set(['failed']));
    expect(refused.filter(({ operation }) => operation === 'trades')).toHaveLength(1);
    expect(refused.filter(({ operation }) => operation === 'transactions')).toHaveLength(1);
    expect((await of(ann.name)).every(({ outcome }) => outcome === 'complete')).toBe(true);
    const lines = rig.lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);
    expect(lines.filter((line) => line.startsWith('trades of account aaa cannot be read: '))).toHaveLength(1);
    expect(lines.filter((line) => /^account aaa: AUTH on the order updates stream/.test(line)).length).toBe(1);
    expect(new Set(lines).size).toBe(lines.length);
    const records = await rig.records(TOPICS.account);
    expect(records.some(({ request: req }) => req['account'] === 'aaa' && req['status'] === 401)).toBe(true);
  });
});
