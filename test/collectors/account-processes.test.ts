import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Bus, openEmbeddedBus } from '../../bus/index.js';
import { claimLayout } from '../../cli/service/instance.js';
import { decodeTrades } from '../../client/index.js';
import { type CollectorEvent, type RawRecord, TOPICS } from '../../core/index.js';
import { readAll } from '../bus/rig.js';
import { chancery } from '../cli/command.js';
import { type AccountMarket, startAccountMarket, type Trader } from '../support/account-market.js';
import { ServiceProcess } from '../support/service-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { listed, OFTEN } from './account-rig.js';
import { BusReader, eventsOf } from './rig.js';

const FAST = [
  ...['holdings', 'trades', 'transactions', 'tpsl', 'stats', 'activity', 'events'].flatMap((group) => [
    `--${group}-schedule`,
    OFTEN,
  ]),
  ...['--log-level', 'trace', '--requests-per-second', '200'],
];

function accountsFile(folder: string, traders: readonly Trader[], mode = 0o600): string {
  const path = join(folder, 'accounts.json');
  const entries = traders.map(({ name, credentials: { apiKey, login } }) => [
    name,
    {
      apiKey: apiKey?.key,
      apiSecret: apiKey?.secret.reveal(),
      email: login?.email,
      password: login?.password.reveal(),
    },
  ]);
  writeFileSync(path, JSON.stringify(Object.fromEntries(entries)));
  chmodSync(path, mode);
  return path;
}

async function collect(market: AccountMarket, data: string, ...args: string[]): Promise<ServiceProcess> {
  const service = await ServiceProcess.start('collect', [
    '--data',
    data,
    '--exchange-url',
    market.exchange.url,
    ...FAST,
    ...args,
  ]);
  onTestFinished(() => service.kill9());
  return service;
}

function busOf(data: string): Bus {
  claimLayout(data);
  const bus = openEmbeddedBus({ dir: join(data, 'bus'), retentionEveryMs: 0 });
  onTestFinished(() => bus.close());
  return bus;
}

describe('a collector process with accounts', () => {
  it('does not start with credentials that others may read', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'accounts.json');
    writeFileSync(path, '{"ann":{"apiKey":"pk_a","apiSecret":"c2VjcmV0"}}');
    chmodSync(path, 0o644);
    const { code, err, out } = await chancery(['collect', '--data', folder, '--accounts-file', path]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(`chancery: ${path} holds secrets and has mode 0644; run: chmod 600 ${path}\n`);
  });

  it('is killed and resumes without a gap, and shows its secrets nowhere', async () => {
    const market = await startAccountMarket();
    const { ann, bob } = market;
    const data = temporaryFolder();
    const file = accountsFile(temporaryFolder(), [ann, bob]);
    const bus = busOf(data);
    const reader = new BusReader(bus);
    const own = async () => {
      const records = (await reader.records(TOPICS.account)).filter((record) => record.kind === 'account.trades');
      return [...new Set(listed(records, decodeTrades).map(({ item }) => item.tradeId))].sort();
    };
    const all = () =>
      market
        .fills()
        .map(({ tradeId }) => tradeId)
        .sort();
    let told = '';
    for (let round = 0; round < 3; round++) {
      const service = await collect(market, data, '--accounts-file', file);
      for (let n = 0; n < 10; n++) await market.fill();
      await until(async () => (await own()).length === all().length);
      told += readFileSync(`/proc/${service.pid}/cmdline`, 'latin1');
      if (round < 2) await service.kill9();
      else expect(await service.stop()).toBe(0);
      told += service.stderr;
      for (let n = 0; n < 3 && round < 2; n++) await market.fill();
    }
    expect(await own()).toEqual(all());
    const polls = eventsOf(await reader.records(TOPICS.collectorEvents), 'poll').filter(
      ({ operation }) => operation === 'trades',
    );
    expect(polls.filter(({ outcome }) => outcome !== 'complete')).toEqual([]);

    for (const folder of ['collector', 'run']) {
      for (const name of readdirSync(join(data, folder))) told += readFileSync(join(data, folder, name), 'latin1');
    }
    expect(told).toContain('"checkpoints"');
    for (const topic of Object.values(TOPICS)) told += (await readAll(bus, topic)).flat().join('');
    for (const secret of [...ann.secrets, ...bob.secrets]) expect(told.includes(secret)).toBe(false);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('collector processes that are shards', () => {
  it('each do their own part, and overlap without duplicates of records that have an ID', async () => {
    const market = await startAccountMarket({ events: 12 });
    const { ann, bob } = market;
    const data = temporaryFolder();
    const file = accountsFile(temporaryFolder(), [ann, bob]);
    const bus = busOf(data);
    const reader = new BusReader(bus);
    const start = (name: string, shard: string) =>
      collect(market, data, '--accounts-file', file, '--collector-name', name, '--shard', shard);
    await Promise.all([start('one', '0/2'), start('two', '1/2')]);
    await market.fill();
    const eventRecords = () => reader.records(TOPICS.collectorEvents);
    const watched = async (stream: string) => {
      const found = (await eventRecords()).map(({ body, sessionId }) => ({ ...(body as CollectorEvent), sessionId }));
      return found.filter((one) => one.type === 'subscribed' && one.stream === stream);
    };
    await until(async () => (await watched('order-book')).length === 12 && (await watched('chance')).length === 12);
    await until(async () => (await watched('orders')).length === 2 && (await watched('balance')).length === 2);
    const polled = async () => eventsOf(await eventRecords(), 'poll');
    await until(async () => new Set((await polled()).map(({ operation }) => operation)).size >= 14);
    const owners = new Map<string, Set<string>>();
    for (const { body, sessionId } of await eventRecords()) {
      const one = body as CollectorEvent;
      const work =
        one.type === 'subscribed' && /order-book|chance/.test(one.stream)
          ? `event ${one.event}`
          : one.type === 'poll' && one.operation !== 'chance-history'
            ? `${one.operation} ${one.subject}`
            : undefined;
      if (work !== undefined) owners.set(work, (owners.get(work) ?? new Set()).add(sessionId));
    }
    expect([...owners].filter(([, own]) => own.size !== 1)).toEqual([]);
    const sids = await sessionsOf(eventRecords());
    expect(sids.size).toBe(2);
    expect(new Set([...owners.values()].flatMap((own) => [...own]))).toEqual(new Set(sids.values()));

    const third = await start('all', '0/1');
    await until(async () => (await watched('order-book')).length === 24);
    await market.fill();
    const fills = market.fills();
    const own = async () => {
      const records = (await reader.records(TOPICS.account)).filter((record) => record.kind === 'account.trades');
      return listed(records, decodeTrades);
    };
    const all = (await sessionsOf(eventRecords())).get('all');
    const bySid = async (sessionId: string | undefined) =>
      (await own()).filter(({ record }) => record.sessionId === sessionId);
    await until(
      async () =>
        (await bySid(all)).length >= 4 && new Set((await own()).map(({ item }) => item.tradeRecordId)).size === 4,
    );
    expect(new Set((await own()).map(({ item }) => item.tradeId)).size).toBe(fills.length);
    // Records without an ID are distinguished by their session: every event is observed twice, by two sessions.
    const twice = new Map<string, Set<string>>();
    for (const one of await watched('order-book')) {
      if (one.type === 'subscribed') twice.set(one.event, (twice.get(one.event) ?? new Set()).add(one.sessionId));
    }
    expect([...twice.values()].every((who) => who.size === 2 && who.has(all ?? ''))).toBe(true);
    expect(await third.stop()).toBe(0);
  });
});

/** Sessions by the name of their collector. */
async function sessionsOf(found: Promise<RawRecord[]>): Promise<Map<string, string>> {
  const sessions = new Map<string, string>();
  for (const { body, sessionId } of await found) {
    const one = body as CollectorEvent;
    if (one.type === 'session-started') sessions.set(one.collector, sessionId);
  }
  return sessions;
}
