import { join } from 'node:path';
import { openEmbeddedBus } from '../../bus/index.js';
import { TOPICS } from '../../core/index.js';
import { Connection, migrate } from '../../warehouse/index.js';
import type { TestClickHouse } from '../support/clickhouse.js';

/** Records per topic; those from `COMMITTED` on are not processed. */
const RECORDS = 10;
const COMMITTED = 8;
/** Receive time of the records on the bus. */
const PENDING_AT = Date.parse('2026-01-06T12:00:00Z') * 1000;
/** Ticks on each offset of the bus. */
const PER_OFFSET = 2000;
/** Between two ticks: those of 10 offsets take 2.5 days, so the first 8 take two. */
const STEP_MS = (2.5 * 86_400_000) / (RECORDS * PER_OFFSET);

/** What would identify an account or a user. */
export const SECRETS = ['main-account', 'user-secret-1', 'ann-secret', 'address-secret-1', 'key-secret-1'] as const;
const [ACCOUNT, USER, USERNAME, ADDRESS, API_KEY] = SECRETS;

const ACCOUNT_BODY = JSON.stringify({ user: USER, address: ADDRESS, key: API_KEY });

type Row = Readonly<Record<string, unknown>>;

/**
 * Makes an instance with two finished days, 2026-01-04 and 2026-01-05, and a third one that is not processed to its end.
 * Ticks of the markets m0 to m2 of event e0, and m3 of e1.
 */
export async function recordInstance(clickhouse: TestClickHouse): Promise<void> {
  const logs = await fillBus(join(clickhouse.dataFolder, 'bus'));
  const connection = new Connection({ endpoint: clickhouse.endpoint.owner, database: 'chancery', application: 'test' });
  await migrate(connection, { fsync: false }, new AbortController().signal);
  await connection.close();
  await clickhouse.run(ticks(logs.get(TOPICS.orderBook) ?? ''));
  for (const [table, topic, rows] of smallTables()) {
    const lines = rows.map((row, index) =>
      JSON.stringify({ _log: logs.get(topic), _partition: 0, _offset: 0, _index: index, ...row }),
    );
    const settings = "SETTINGS input_format_skip_unknown_fields = 0, date_time_input_format = 'best_effort'";
    await clickhouse.run(`INSERT INTO chancery.${table} ${settings} FORMAT JSONEachRow ${lines.join('\n')}`);
  }
}

/** @returns the log of each topic */
async function fillBus(dir: string): Promise<ReadonlyMap<string, string>> {
  const bus = openEmbeddedBus({ dir });
  const topics = Object.values(TOPICS);
  const value = Buffer.from(`{"v":1,"kind":"x","sid":"s","n":1,"at":${PENDING_AT}}`);
  for (const topic of topics) {
    await bus.ensureTopic(topic, { partitions: 1, retentionMs: null, retentionBytes: null });
    await bus.append(topic, Array(RECORDS).fill({ key: 'k', value }));
  }
  const done = new AbortController();
  let committed = 0;
  const handler = {
    onAssigned: async (partition: { commit(offset: number): Promise<void> }) => {
      await partition.commit(COMMITTED);
      committed += 1;
      if (committed === topics.length) done.abort();
      return COMMITTED;
    },
    onBatch: async () => {},
    onRevoked: async () => {},
  };
  await bus.consume({ topics, group: 'chancery-transform' }, handler, done.signal);
  const logs = new Map((await bus.partitions()).map(({ topic, log }) => [topic, log]));
  await bus.close();
  return logs;
}

const ticks = (log: string) => `
  INSERT INTO chancery.price_ticks (_log, _partition, _offset, _index, received_at, event, market, last, bid, ask, source)
  SELECT '${log}', 0, intDiv(number, ${PER_OFFSET}), number % ${PER_OFFSET},
    toDateTime64('2026-01-04 00:00:00', 6, 'UTC') + toIntervalMillisecond(number * ${STEP_MS}),
    if(number % 4 = 3, 'e1', 'e0'), concat('m', toString(number % 4)),
    round((number % 97) / 97, 2), if(number % 7 = 0, NULL, 0.4), 0.6, 'delta'
  FROM numbers(${RECORDS * PER_OFFSET})`;

const at = (time: string) => `2026-01-${time}Z`;

function smallTables(): readonly (readonly [table: string, topic: string, rows: readonly Row[]])[] {
  const { orderBook, chance, reference, account, collectorEvents } = TOPICS;
  const seen = { received_at: at('04T00:00:01'), poll_id: 'p' };
  const rain = { event: 'e0', title: 'Wird es regnen? 雨', category: 'weather', tags: ['rain'] };
  const film = { event: 'e1', title: 'It\'s a "film", \\ too', category: 'film', tags: ['critics'] };
  const trade = { received_at: at('04T10:00:00'), account: ACCOUNT, poll_id: 'p', user_id: USER, market: 'm0' };
  const fill = { side: 'BUY', quantity: '1.5', price: '0.5', executed_at: at('04T09:59:00'), trade_record_id: 't1' };
  const collectorEvent = (sequence: number, recorded_at: string, type: string, fields: Row = {}) => ({
    ...{ _offset: sequence - 1, recorded_at, session_id: 's', sequence, type },
    ...fields,
  });
  const poll = { started_at: at('04T00:00:00'), finished_at: at('04T00:00:03'), session_id: 's', poll_id: 'p' };
  const raw = { received_at: at('04T00:00:01'), session_id: 's', encoding: 'json', pieces: 1 };
  const expires = { body_expires_at: '2100-01-01T00:00:00Z' };
  return [
    [
      'chance_points',
      chance,
      ['04', '05'].map((day) => ({
        ...{ received_at: at(`${day}T01:00:00.5`), occurred_at: at(`${day}T01:00:00`) },
        ...{ event: 'e0', market: 'm0', chance: 0.5, source: 'change' },
      })),
    ],
    ['event_observations', reference, [rain, film].map((event) => ({ ...seen, ...event }))],
    [
      'market_observations',
      reference,
      [0, 1, 2, 3].map((number) => ({ ...seen, event: number < 3 ? 'e0' : 'e1', market: `m${number}` })),
    ],
    ['activity_records', account, [{ ...trade, ...fill, username: USERNAME, position: 'YES' }]],
    ['trade_records', account, [{ ...trade, ...fill, event: 'e0' }]],
    [
      'transaction_records',
      account,
      [
        {
          ...{ received_at: at('04T10:00:00'), account: ACCOUNT, poll_id: 'p', transaction_id: 't', user_id: USER },
          ...{ type: 'WITHDRAWAL', status: 'COMPLETED', amount: '1', withdrawal_address: ADDRESS },
        },
      ],
    ],
    ['account_pages', account, [{ received_at: at('04T10:00:00'), account: ACCOUNT, operation: 'trades', items: 1 }]],
    [
      'collector_events',
      collectorEvents,
      [
        collectorEvent(1, at('04T00:00:00'), 'session-started'),
        collectorEvent(2, at('04T00:00:02'), 'subscribed', { stream: 'orders', event: ACCOUNT }),
        collectorEvent(3, at('05T00:00:02'), 'session-stopped', { cause: `account ${ACCOUNT} failed` }),
        collectorEvent(10, at('05T00:00:03'), 'session-started', { cause: 'beyond the committed offset' }),
      ],
    ],
    [
      'polls',
      collectorEvents,
      [
        { ...poll, operation: 'event-search', subject: 'all', outcome: 'complete' },
        { ...poll, operation: 'trades', subject: ACCOUNT, outcome: 'complete' },
      ],
    ],
    [
      'raw_records',
      orderBook,
      [{ _topic: orderBook, ...raw, ...expires, kind: 'order-book.frame', request: '{}', body: '{}' }],
    ],
    ['raw_records', account, [{ _topic: account, ...raw, ...expires, kind: 'account.trades', body: ACCOUNT_BODY }]],
  ];
}
