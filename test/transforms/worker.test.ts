import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { useDatabase } from '../support/database.js';
import { AT, delta, EVENT, envelope, MARKET, OTHER_MARKET, priceRecord, SID, STREAM_REQ } from './support.js';
import { WorkerRig } from './worker-rig.js';

const host = useDatabase({ migrated: true });
let rig: WorkerRig | undefined;

async function newRig(): Promise<WorkerRig> {
  rig = new WorkerRig(host.database.owner, host.database.name);
  await rig.prepare();
  return rig;
}

afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

describe('a worker', () => {
  it('turns order book records into ticks and raw records, with every value as sent', async () => {
    const it = await newRig();
    const bodyJson = `{"t":"PRICES_DATA","e":"${EVENT}","d":[{"o":"${MARKET}","c":0.07,"b":0,"a":0.123456789012},{"o":"${OTHER_MARKET}","c":1,"b":0.99,"a":1}]}`;
    await it.append(TOPICS.orderBook, [envelope({ sequence: 1, bodyJson }), priceRecord(2), priceRecord(3, 0.51)]);
    await it.worker({ bodyRetentionDays: 30_000 });
    await it.drained();
    expect(
      await it.rows(
        `SELECT event, market, last, bid, ask, source, _offset, _index, toUnixTimestamp64Micro(received_at) AS at
         FROM price_ticks ORDER BY _offset, _index`,
      ),
    ).toEqual([
      {
        event: EVENT,
        market: MARKET,
        last: 0.07,
        bid: null,
        ask: 0.123456789012,
        source: 'snapshot',
        _offset: 0,
        _index: 0,
        at: AT - (AT % 1000),
      },
      {
        event: EVENT,
        market: OTHER_MARKET,
        last: 1,
        bid: 0.99,
        ask: null,
        source: 'snapshot',
        _offset: 0,
        _index: 1,
        at: AT - (AT % 1000),
      },
      {
        event: EVENT,
        market: MARKET,
        last: 0.5,
        bid: 0.49,
        ask: 0.51,
        source: 'delta',
        _offset: 1,
        _index: 0,
        at: AT - (AT % 1000),
      },
      {
        event: EVENT,
        market: MARKET,
        last: 0.51,
        bid: 0.49,
        ask: 0.51,
        source: 'delta',
        _offset: 2,
        _index: 0,
        at: AT - (AT % 1000),
      },
    ]);
    expect(
      await it.rows(
        'SELECT _topic, session_id, sequence, kind, encoding, pieces, body_bytes, body FROM raw_records ORDER BY _offset LIMIT 1',
      ),
    ).toEqual([
      {
        _topic: TOPICS.orderBook,
        session_id: SID,
        sequence: 1,
        kind: 'order-book.frame',
        encoding: 'json',
        pieces: 1,
        body_bytes: bodyJson.length,
        body: bodyJson,
      },
    ]);
  });

  it('stores requests and bodies only when it is configured to', async () => {
    const it = await newRig();
    await it.append(TOPICS.orderBook, [priceRecord(1)]);
    await it.worker({ keepBodies: false });
    await it.drained();
    const [row] = await it.rows<{ body: string; request: string; body_bytes: number }>('SELECT * FROM raw_records');
    expect([row?.body, row?.request]).toEqual(['', '']);
    expect(row?.body_bytes).toBeGreaterThan(50);
  });

  it.each([
    ['are not kept', { keepBodies: false }],
    ['have expired', { bodyRetentionDays: 1 }],
  ] as const)('keeps the whole of what it writes dead letters for where bodies %s', async (_, settings) => {
    const it = await newRig();
    const long = 'x'.repeat(5000);
    const bodies = [
      delta([{ o: MARKET, c: long, b: 0, a: 1 }]),
      `{"t":"NEWS","d":"${long}"}`,
      `{"t":"UNFINISHED","d":"${long}"}`,
    ];
    const half = (n: number, i: number) => {
      const text = bodies[n - 1] ?? '';
      return envelope({
        sequence: n,
        piece: { i, of: 2 },
        bodyJson: JSON.stringify(text.slice(i * 2500, i === 0 ? 2500 : undefined)),
      });
    };
    const [cut = '', whole = ''] = bodies;
    await it.append(TOPICS.orderBook, [
      envelope({ sequence: 1, bodyJson: cut }),
      half(2, 0),
      half(2, 1),
      half(3, 0),
      priceRecord(4),
      envelope({ sequence: 5, piece: { i: 0, of: 2 }, bodyJson: '"{\\"t\\":"' }),
      envelope({ sequence: 5, piece: { i: 1, of: 2 }, bodyJson: '"\\"PING\\"}"' }),
    ]);
    await it.worker(settings);
    await it.drained();
    await host.database.run('OPTIMIZE TABLE raw_records FINAL');
    const rows = await it.rows<{ sequence: number; request: string; body: string; forever: number }>(
      `SELECT sequence, request, body, toUnixTimestamp(body_expires_at) = 4294967295 AS forever
       FROM raw_records ORDER BY sequence, piece`,
    );
    expect(rows.map(({ sequence, forever }) => [sequence, forever])).toEqual([
      [1, 1],
      [2, 1],
      [2, 1],
      [3, 1],
      [4, 0],
      [5, 0],
      [5, 0],
    ]);
    expect(rows[0]?.body).toBe(cut);
    expect(
      rows
        .slice(1, 3)
        .map(({ body }) => JSON.parse(body))
        .join(''),
    ).toBe(whole);
    expect(JSON.parse(rows[3]?.body ?? '')).toBe(bodies[2]?.slice(0, 2500));
    expect(rows.slice(4).map(({ request, body }) => request + body)).toEqual(['', '', '']);
    expect(rows.slice(0, 4).every(({ request }) => request.startsWith('{'))).toBe(true);
    const letters = await it.rows('SELECT sequence, length(payload) AS kept FROM dead_letters ORDER BY sequence');
    expect(letters).toMatchObject([{ sequence: 1 }, { sequence: 2, kept: 4096 }, { sequence: 3 }]);
  });

  it('writes a dead letter for the invalid part of a record, and rows for the rest', async () => {
    const it = await newRig();
    await it.append(TOPICS.orderBook, [
      Buffer.from('{"v":1,'),
      Buffer.from([0xff, 0xfe, 0x00]),
      envelope({ sequence: 1, encoding: 'text', bodyJson: '"{\\"t\\":"' }),
      envelope({
        sequence: 2,
        bodyJson: delta([
          { o: MARKET, c: 2, b: 0, a: 1 },
          { o: MARKET, c: 0.3, b: 0, a: 1 },
        ]),
      }),
      envelope({ sequence: 3, kind: 'chance.frame', bodyJson: '{}' }),
    ]);
    await it.worker();
    await it.drained();
    const connection_id = STREAM_REQ.connection;
    expect(
      await it.rows(
        'SELECT _offset, connection_id, json_path, reason, sequence, payload FROM dead_letters ORDER BY _offset',
      ),
    ).toEqual([
      {
        _offset: 0,
        connection_id: '',
        json_path: '',
        reason: 'the record is not JSON',
        sequence: null,
        payload: '{"v":1,',
      },
      {
        _offset: 1,
        connection_id: '',
        json_path: '',
        reason: 'the record is not UTF-8',
        sequence: null,
        payload: expect.any(String),
      },
      {
        _offset: 2,
        connection_id,
        json_path: 'body',
        reason: 'the received body is not JSON',
        sequence: 1,
        payload: '{"t":',
      },
      {
        _offset: 3,
        connection_id,
        json_path: 'd[0].c',
        reason: 'expected at most 1, got number 2',
        sequence: 2,
        payload: expect.any(String),
      },
      {
        _offset: 4,
        connection_id,
        json_path: 'kind',
        reason: `chance.frame does not belong to the topic ${TOPICS.orderBook}`,
        sequence: 3,
        payload: '{}',
      },
    ]);
    expect(await it.rows('SELECT last FROM price_ticks')).toEqual([{ last: 0.3 }]);
    expect(await it.rows('SELECT sequence FROM raw_records ORDER BY sequence')).toEqual([
      { sequence: 1 },
      { sequence: 2 },
      { sequence: 3 },
    ]);
  });

  it('joins the pieces of a large body, with other records between them', async () => {
    const it = await newRig();
    const body = delta(Array.from({ length: 50 }, (_, i) => ({ o: `market-${i}`, c: 0.5, b: 0.4, a: 0.6 })));
    const piece = (n: number, i: number, text: string) =>
      envelope({ sequence: n, piece: { i, of: 3 }, bodyJson: JSON.stringify(text) });
    const third = Math.ceil(body.length / 3);
    const parts = [0, 1, 2].map((i) => body.slice(i * third, (i + 1) * third));
    const others = (n: number) => envelope({ sessionId: 'someone-else', sequence: n, bodyJson: delta([]) });
    await it.append(TOPICS.orderBook, [
      piece(1, 0, parts[0] ?? ''),
      others(1),
      piece(1, 1, parts[1] ?? ''),
      others(2),
      piece(1, 2, parts[2] ?? ''),
      // The second body is never complete: the session continues without its last piece.
      piece(2, 0, '{'),
      piece(2, 1, '"t"'),
      envelope({ sequence: 3, bodyJson: delta([]) }),
    ]);
    await it.worker();
    await it.drained();
    expect(
      await it.rows(
        'SELECT count() AS ticks, uniqExact(_offset, _index) AS positions, any(_offset) AS at FROM price_ticks',
      ),
    ).toEqual([{ ticks: 50, positions: 50, at: 4 }]);
    expect(await it.rows('SELECT _offset, connection_id, reason, payload FROM dead_letters')).toEqual([
      { _offset: 6, connection_id: STREAM_REQ.connection, reason: 'only 2 of 3 pieces were received', payload: '{"t"' },
    ]);
    expect(await it.rows('SELECT count() AS records, max(pieces) AS pieces FROM raw_records')).toEqual([
      { records: 8, pieces: 3 },
    ]);
  });

  it('drops records that a collector sent twice, also those that another worker processed', async () => {
    const it = await newRig();
    await it.append(TOPICS.orderBook, [priceRecord(1), priceRecord(2), priceRecord(2), priceRecord(1)]);
    const first = await it.worker();
    await it.drained();
    await first.stop();
    await it.append(TOPICS.orderBook, [priceRecord(2), priceRecord(3)]);
    const metrics = new Registry();
    await it.worker({}, metrics);
    await it.drained();
    expect(await it.rows('SELECT sequence, _offset FROM raw_records ORDER BY _offset')).toEqual([
      { sequence: 1, _offset: 0 },
      { sequence: 2, _offset: 1 },
      { sequence: 3, _offset: 5 },
    ]);
    expect(await it.rows('SELECT count() AS ticks FROM price_ticks')).toEqual([{ ticks: 3 }]);
    expect(await metrics.metrics()).toContain(`chancery_transform_duplicates_total{topic="${TOPICS.orderBook}"} 1`);
  });

  it('splits many records into batches of bounded size and loses or duplicates none', async () => {
    const it = await newRig();
    const values = Array.from({ length: 5000 }, (_, i) => priceRecord(i + 1, (i % 98) / 100 + 0.01));
    await it.append(TOPICS.orderBook, values);
    const metrics = new Registry();
    await it.worker({ batchRows: 700 }, metrics);
    await it.drained();
    expect(
      await it.rows(
        'SELECT count() AS rows, uniqExact(_partition, _offset, _index) AS positions, round(sum(last)) AS sum FROM price_ticks',
      ),
    ).toEqual([
      { rows: 5000, positions: 5000, sum: Math.round(values.reduce((sum, _, i) => sum + (i % 98) / 100 + 0.01, 0)) },
    ]);
    const batches = /transform_batches_total\{topic="chancery.order-book"\} (\d+)/.exec(await metrics.metrics());
    expect(Number(batches?.[1])).toBeGreaterThanOrEqual(7);
    expect(await metrics.metrics()).toContain(`chancery_transform_lag_records{topic="${TOPICS.orderBook}"} 0`);
    expect(await metrics.metrics()).toContain('chancery_transform_rows_total{table="price_ticks"} 5000');
  });

  it('never writes a batch of more than eight months', async () => {
    const it = await newRig();
    const month = (i: number) => Date.UTC(2020, i, 15) * 1000;
    const values = Array.from({ length: 30 }, (_, i) =>
      envelope({ sequence: i + 1, receivedAt: month(i), bodyJson: delta([{ o: MARKET, c: 0.5, b: 0, a: 1 }]) }),
    );
    await it.append(TOPICS.orderBook, values);
    await it.worker();
    await it.drained();
    expect(
      await it.rows('SELECT count() AS ticks, uniqExact(toYYYYMM(received_at)) AS months FROM price_ticks'),
    ).toEqual([{ ticks: 30, months: 30 }]);
    const parts = await it.rows<{ batch: number }>(
      `SELECT uniqExact(partition) AS batch FROM system.parts WHERE database = '${it.database}' AND table = 'price_ticks' AND active`,
    );
    expect(parts).toEqual([{ batch: 30 }]);
  });

  it('writes every kind of record into its own table', async () => {
    const it = await newRig();
    const t = Math.floor(AT / 1e6);
    await it.append(TOPICS.chance, [
      envelope({
        kind: 'chance.frame',
        sequence: 1,
        bodyJson: JSON.stringify({ t: 'probability', e: EVENT, o: [MARKET], d: { t, p: 0.4 } }),
      }),
      envelope({
        kind: 'chance.history',
        sequence: 2,
        requestJson: JSON.stringify({ event: EVENT, market: MARKET, period: '1s', from: t - 60, to: t, status: 200 }),
        bodyJson: JSON.stringify([
          { t: t - 60, p: 0.1 },
          { t: t - 5, p: 0.2 },
        ]),
      }),
    ]);
    const rest = (
      kind: 'reference.events' | 'reference.categories' | 'reference.tags' | 'reference.coins',
      n: number,
      body: unknown,
    ) => envelope({ kind, sequence: n, requestJson: '{"status":200,"poll":"p1"}', bodyJson: JSON.stringify(body) });
    await it.append(TOPICS.reference, [
      rest('reference.events', 1, {
        content: [{ id: EVENT, title: 'Rain?', outcomes: [{ marketId: MARKET, yesId: 'y', noId: 'n' }] }],
      }),
      rest('reference.categories', 2, [{ i: 'c', n: 'Weather', s: 'weather' }]),
      rest('reference.tags', 3, [{ n: 'rain', r: 3 }]),
      rest('reference.coins', 4, [{ i: 'u', sn: 'USDC', ur: 1, dpf: 6, sc: true }]),
    ]);
    const collectorEvent = (n: number, body: object) =>
      envelope({ kind: 'collector.event', sequence: n, requestJson: '{}', bodyJson: JSON.stringify(body) });
    await it.append(TOPICS.collectorEvents, [
      collectorEvent(1, { type: 'heartbeat', acknowledged: { [TOPICS.chance]: 2 }, lastFrames: { c1: AT } }),
      collectorEvent(2, {
        type: 'poll',
        pollId: 'p1',
        operation: 'event-search',
        subject: 'all',
        startedAt: AT - 9,
        expectedItems: 1,
        receivedItems: 1,
        distinctItems: 1,
        pages: 1,
        truncated: false,
        outcome: 'complete',
        cause: '',
      }),
    ]);
    await it.worker();
    await it.drained();
    const one = async (sql: string) => (await it.rows(sql))[0];
    expect(await one('SELECT event, market, chance, source FROM chance_points')).toEqual({
      event: EVENT,
      market: MARKET,
      chance: 0.4,
      source: 'change',
    });
    expect(await one('SELECT period, chance, source FROM chance_history_points FINAL')).toEqual({
      period: '1s',
      chance: 0.2,
      source: 'rest',
    });
    expect(await one('SELECT title, markets, poll_id FROM event_observations')).toEqual({
      title: 'Rain?',
      markets: [MARKET],
      poll_id: 'p1',
    });
    expect(await one('SELECT title, open FROM events')).toEqual({ title: 'Rain?', open: true });
    expect(await it.rows('SELECT asset, outcome, market, event FROM assets ORDER BY outcome')).toEqual([
      { asset: 'n', outcome: 'NO', market: MARKET, event: EVENT },
      { asset: 'y', outcome: 'YES', market: MARKET, event: EVENT },
    ]);
    expect(await one('SELECT name, slug, depth FROM categories')).toEqual({
      name: 'Weather',
      slug: 'weather',
      depth: 0,
    });
    expect(await one('SELECT tag, popularity_rank FROM tags')).toEqual({ tag: 'rain', popularity_rank: 3 });
    expect(await one('SELECT coin, ticker, usd_rate, full_decimals, system_coin, collateral FROM coins')).toEqual({
      coin: 'u',
      ticker: 'USDC',
      usd_rate: 1,
      full_decimals: 6,
      system_coin: true,
      collateral: null,
    });
    expect(await one('SELECT type, acknowledged, last_frames FROM collector_events')).toEqual({
      type: 'heartbeat',
      acknowledged: { [TOPICS.chance]: 2 },
      last_frames: { c1: AT },
    });
    expect(await one('SELECT operation, expected_items, outcome FROM polls')).toEqual({
      operation: 'event-search',
      expected_items: 1,
      outcome: 'complete',
    });
    expect(await it.rows('SELECT * FROM dead_letters')).toEqual([]);
  });
});
