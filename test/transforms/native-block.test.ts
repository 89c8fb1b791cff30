import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../core/index.js';
import { Interned } from '../../transforms/native/interned.js';
import { type PriceTick, PriceTickBlock, priceTicks } from '../../transforms/tables/price-ticks.js';
import type { TableBlock } from '../../warehouse/index.js';
import { useDatabase } from '../support/database.js';
import { SOURCE_PARTITION } from './support.js';

const host = useDatabase({ migrated: false });

/** The rows that ClickHouse reads from a block. */
async function readBack(block: TableBlock | null): Promise<Record<string, unknown>[]> {
  if (!block) return [];
  const { owner, name } = host.database;
  const table = 'read_back';
  const structure = block.table.columns.map((column) => `${column.name} ${column.type}`).join(', ');
  await host.database.run(
    `CREATE OR REPLACE TABLE ${table} (${structure}, row UInt64 DEFAULT rowNumberInAllBlocks())
     ENGINE = MergeTree ORDER BY row SETTINGS allow_suspicious_low_cardinality_types = 1`,
  );
  const columns = block.table.columns.map((column) => column.name).join(', ');
  const insert = encodeURIComponent(`INSERT INTO ${table} (${columns}) FORMAT Native`);
  const response = await fetch(`${owner.url}/?database=${name}&query=${insert}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': owner.user, 'X-ClickHouse-Key': owner.password.reveal() },
    body: new Uint8Array(block.body),
  });
  if (!response.ok) throw new Error(await response.text());
  return host.database.rows(
    `SELECT * EXCEPT (row, received_at), toUnixTimestamp64Micro(received_at) AS at FROM ${table} ORDER BY row`,
  );
}

describe('a block of price ticks', () => {
  it('is read by ClickHouse as the rows that were added', async () => {
    const id = fc.oneof(fc.uuid(), fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }));
    const price = fc.oneof(
      fc.nat(100).map((cents) => cents / 100),
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    const tick = fc.record({
      receivedAt: fc.integer({ min: 0, max: 4_000_000_000_000_000 }),
      eventId: id,
      marketId: id,
      last: price,
      bid: fc.option(price),
      ask: fc.option(price),
      source: fc.constantFrom<PriceTick['source']>('snapshot', 'delta'),
      repeated: fc.boolean(),
    });
    const offset = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    const interned = new Interned();
    const block = new PriceTickBlock(SOURCE_PARTITION, interned);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(offset, fc.nat(1000), tick), { minLength: 1, maxLength: 400 }),
        async (rows) => {
          for (const [at, index, row] of rows) block.append(at, index, row);
          expect(await readBack(block.finish())).toEqual(
            rows.map(([at, index, row]) => ({
              _log: SOURCE_PARTITION.log,
              _partition: SOURCE_PARTITION.partition,
              _offset: at,
              _index: index,
              event: row.eventId,
              market: row.marketId,
              last: row.last + 0,
              bid: row.bid === null ? null : row.bid + 0,
              ask: row.ask === null ? null : row.ask + 0,
              source: row.source,
              repeated: row.repeated,
              at: row.receivedAt - (row.receivedAt % 1000),
            })),
          );
        },
      ),
      { seed: 7, numRuns: 15 },
    );
  });

  it('may have more distinct markets and prices than two bytes can count', async () => {
    const block = new PriceTickBlock(SOURCE_PARTITION, new Interned());
    const rows = 70_000;
    for (let i = 0; i < rows; i++) {
      block.append(i, 0, {
        receivedAt: i,
        eventId: 'event',
        marketId: `market-${i}`,
        last: i / rows,
        bid: i % 2 === 0 ? null : (i % 300) / 300,
        ask: null,
        source: 'delta',
        repeated: false,
      });
    }
    const back = await readBack(block.finish());
    expect(back).toHaveLength(rows);
    expect(back.every((row, i) => row['market'] === `market-${i}` && row['last'] === i / rows)).toBe(true);
    expect(back.every((row, i) => row['bid'] === (i % 2 === 0 ? null : (i % 300) / 300) && row['ask'] === null)).toBe(
      true,
    );
  });

  it('of a large batch is summed up: first and last tick of each market and block of offsets, also where a clock was set back', async () => {
    const block = new PriceTickBlock(SOURCE_PARTITION, new Interned());
    const random = new Random(3);
    const below = (n: number) => random.integer(0, n - 1);
    const fill = () => {
      for (let offset = 60_000; offset < 72_000; offset++) {
        const market = `market-${below(7)}`;
        const [last, bid] = [below(100) / 100, below(2) === 0 ? null : below(100) / 100];
        const receivedAt = 1_700_000_000_000_000 + (offset % 5000) * 1000 + below(3000);
        const row = { receivedAt, eventId: `event-${below(2)}`, marketId: market, last, bid, ask: null };
        block.append(offset, below(2), { ...row, source: 'delta', repeated: false });
      }
      return block.finish();
    };
    for (const built of [fill(), fill()]) {
      const rows = await readBack(built);
      const ends = await readBack(built?.summary ?? null);
      const wanted = new Map<string, { first: number; last: Record<string, unknown> }>();
      for (const row of rows) {
        const key = `${row['market']}/${Number(row['_offset']) >> 16}`;
        const known = wanted.get(key);
        const at = Number(row['at']);
        const isLast = known === undefined || at >= Number(known.last['at']);
        wanted.set(key, { first: Math.min(known?.first ?? at, at), last: isLast ? row : known.last });
      }
      expect(ends.length).toBe(14);
      for (const { first_received_at, ...end } of ends) {
        const { first, last } = wanted.get(`${end['market']}/${Number(end['_offset']) >> 16}`) ?? {};
        const { source, repeated, ...tick } = last ?? {};
        expect(end).toEqual(tick);
        expect(Date.parse(`${String(first_received_at).replace(' ', 'T')}Z`) * 1000).toBe(first);
      }
    }
  });

  it('is null without rows, and can be reused', () => {
    const block = new PriceTickBlock(SOURCE_PARTITION, new Interned());
    expect(block.finish()).toBeNull();
    const row: PriceTick = {
      receivedAt: 1,
      eventId: 'e',
      marketId: 'm',
      last: 0.5,
      bid: null,
      ask: null,
      source: 'delta',
      repeated: false,
    };
    block.append(0, 0, row);
    const first = block.finish();
    block.append(0, 0, row);
    expect(block.finish()?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    expect(first?.table).toBe(priceTicks);
  });
});
