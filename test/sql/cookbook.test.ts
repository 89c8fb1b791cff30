import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import { useClickHouse } from '../support/clickhouse.js';
import { ago, eventSeen, mark, searchPoll, tick, WarehouseData } from './warehouse-data.js';

const host = useClickHouse();
let data: WarehouseData;

const page = readFileSync(join(packageRoot(), 'docs/sql.md'), 'utf8');
const queries = [...page.matchAll(/```sql\n(.*?)```/gs)].map((match) => match[1] ?? '');

/** A market that was watched for two hours, with everything that the page asks about. */
async function record(): Promise<void> {
  const place = { _log: 'log', _partition: 0, _offset: 1, _index: 0 };
  await data.insert('price_ticks', [
    tick('m1', ago(7200), 0.3, { event: 'e1' }),
    tick('m1', ago(5000), 0.35, { event: 'e1' }),
    tick('m1', ago(60), 0.45, { event: 'e1', bid: 0.42, ask: 0.44, ...place }),
    tick('m2', ago(50), 0.5, { event: 'e1', bid: 0.48, ask: 0.52 }),
  ]);
  const raw = { sid: 's', n: 1, kind: 'order-book.frame', encoding: 'json', piece: 0, pieces: 1, body_bytes: 4 };
  await data.insert('raw_records', [
    {
      ...place,
      ...raw,
      _topic: 'chancery.order-book',
      received_at: ago(60),
      written_at: ago(59),
      body_expires_at: '2099-01-01 00:00:00',
      request: '{}',
      body: '{"t":"PRICES_DATA_DELTA"}',
    },
  ]);
  const point = { event: 'e1', market: 'm1', chance: 0.4, source: 'change' };
  await data.insert('chance_points', [{ ...point, occurred_at: ago(90), received_at: ago(89) }]);
  const seen = (at: string, title: string) =>
    eventSeen('e1', at, { title, markets: ['m1', 'm2'], volume_24h: 5, total_volume: 9 });
  await data.insert('event_observations', [seen(ago(7300), 'Rain?'), seen(ago(2), 'Rain tomorrow?')]);
  const market = { event: 'e1', received_at: ago(2), poll: 'p', yes_asset: 'y', no_asset: 'n' };
  await data.insert('market_observations', [
    { ...market, market: 'm1', name: 'Yes' },
    { ...market, market: 'm2', name: 'No' },
  ]);
  await data.insert('polls', [searchPoll(ago(3))]);
  const on = { stream: 'order-book', connection: 'c', event: 'e1' };
  await data.insert('marks', [
    mark('s', 1, ago(7250), 'session-started', { collector: 'a' }),
    mark('s', 2, ago(7250), 'subscribed', { ...on, markets: ['m1', 'm2'] }),
    mark('s', 3, ago(0.5), 'alive'),
  ]);
  await data.insert('dead_letters', [
    { _topic: 't', kind: 'mark', sid: 's', n: 1, place: 'd', reason: 'r', payload: 'x', payload_length: 1 },
  ]);
}

beforeAll(async () => {
  data = new WarehouseData(host.clickhouse);
  await data.migrate();
  await record();
});

describe('the cookbook', () => {
  it('has queries', () => {
    expect(queries.length).toBeGreaterThan(15);
  });

  it.each(queries.map((query) => [query.split('\n')[0], query] as const))('answers: %s', async (_, query) => {
    const filled = query.replaceAll('<market>', 'm1').replaceAll('<event>', 'e1');
    expect(filled).not.toMatch(/<\w+>/);
    expect((await data.ask(filled)).length).toBeGreaterThan(0);
  });
});
