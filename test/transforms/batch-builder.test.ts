import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonExcess } from '../../core/index.js';
import { SessionProgress } from '../../transforms/batch/session-progress.js';
import { readEnvelope } from '../../transforms/record/envelope.js';
import {
  AT,
  builder,
  delta,
  EVENT,
  envelope,
  MARKET,
  OTHER_MARKET,
  priceRecord,
  recordBatch,
  rowCounts,
  SOURCE_PARTITION,
  STREAM_REQ,
} from './support.js';

const limits = { rows: 100_000, bytes: 100_000_000, bytesWithPieces: 200_000_000, months: 8 };

/** Valid and invalid records. */
const anyRecord = fc.oneof(
  { weight: 3, arbitrary: fc.nat(40).map((n) => priceRecord(n + 1, (n + 1) / 100)) },
  fc.nat(40).map((n) => envelope({ sequence: n + 1, bodyJson: delta([{ o: OTHER_MARKET, c: 2, b: 0, a: 1 }]) })),
  fc.nat(40).map((n) => envelope({ sequence: n + 1, sessionId: 'other', bodyJson: '{"t":"PING"}' })),
  fc
    .tuple(fc.nat(9), fc.nat(2))
    .map(([n, i]) => envelope({ sequence: n + 1, sessionId: 'pieces', piece: { i, of: 3 }, bodyJson: '"{"' })),
  fc
    .tuple(fc.nat(40), fc.jsonValue())
    .map(([n, body]) => envelope({ sequence: n + 1, bodyJson: JSON.stringify(body) })),
  fc
    .tuple(fc.nat(40), fc.string())
    .map(([n, text]) => envelope({ sequence: n + 1, encoding: 'text', bodyJson: JSON.stringify(text) })),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
);

describe('a batch', () => {
  it('accounts for every record: as a raw record, a duplicate or a dead letter', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 60 }), (values) => {
        const it = builder();
        expect(it.add(recordBatch(values, 7))).toBe(values.length);
        const built = it.finish();
        const broken = values.filter((value) => !readEnvelope(value, SOURCE_PARTITION.topic).ok).length;
        expect([built?.start, built?.end, built?.stats.records]).toEqual([7, 6 + values.length, values.length]);
        const kept = rowCounts(built)['raw_records'] ?? 0;
        expect(kept + (built?.stats.duplicates ?? 0) + broken).toBe(values.length);
        expect(rowCounts(built)['dead_letters'] ?? 0).toBe(built?.stats.deadLetters);
        expect(built?.stats.deadLetters).toBeGreaterThanOrEqual(broken);
      }),
      { seed: 7, numRuns: 150 },
    );
  });

  it('has the same bytes when the same range is built again, however it is divided when read', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { minLength: 2, maxLength: 60 }), fc.nat(), (values, cut) => {
        const first = builder();
        first.add(recordBatch(values));
        const again = builder();
        // Earlier batches must not have an effect, nor the IDs they contained.
        again.add(recordBatch([priceRecord(1, 0.77, 'another-market')]));
        again.finish();
        const fresh = builder();
        const at = 1 + (cut % (values.length - 1));
        fresh.add(recordBatch(values.slice(0, at)));
        fresh.add(recordBatch(values.slice(at), at));
        const [a, b] = [first.finish(), fresh.finish()];
        expect(b?.blocks.map((block) => [block.table.name, block.rows, block.body.toString('base64')])).toEqual(
          a?.blocks.map((block) => [block.table.name, block.rows, block.body.toString('base64')]),
        );
      }),
      { seed: 7, numRuns: 50 },
    );
  });

  it('has the same bytes whether the fast path or the general path read its records', () => {
    const values = [
      priceRecord(1),
      priceRecord(2, 0.51),
      envelope({
        sequence: 3,
        bodyJson: delta([
          { o: MARKET, c: 1, b: 0, a: 0.5 },
          { o: OTHER_MARKET, c: 0.123456, b: 0.1, a: 1 },
        ]),
      }),
    ];
    const spaced = values.map((value) => Buffer.from(value.toString().replace('"sid":', '"sid" :')));
    const blocks = (records: readonly Buffer[]) => {
      const it = builder({ bodyDays: 0 });
      it.add(recordBatch(records));
      return it.finish()?.blocks.map((block) => block.body.toString('base64'));
    };
    expect(blocks(spaced)).toEqual(blocks(values));
  });

  it('has repeated entries of a record, also after a record with the same request was read', async () => {
    const repeated = (sequence: number) =>
      envelope({
        sequence,
        requestJson: JSON.stringify({ ...STREAM_REQ, repeated: [0] }),
        bodyJson: delta([{ o: MARKET, c: 0.5, b: 0.49, a: 0.51 }]),
      });
    const flagsOf = (values: readonly Buffer[]) => {
      const it = builder();
      it.add(recordBatch(values));
      const ticks = it.finish()?.blocks.find(({ table }) => table.name === 'price_ticks');
      // The last column: one byte per row.
      return [...(ticks?.body.subarray(-values.length) ?? [])];
    };
    expect(flagsOf([priceRecord(1), repeated(2), priceRecord(3), repeated(4), repeated(5), priceRecord(6)])).toEqual([
      0, 1, 0, 1, 1, 0,
    ]);
  });

  it('takes a record once, also when it was processed before the batch', () => {
    const it = builder({
      progress: new SessionProgress([['3b1f0000-0000-4000-8000-000000000001', { sequence: 5, piece: 0 }]]),
    });
    it.add(recordBatch([4, 5, 6, 6, 7].map((n) => priceRecord(n))));
    const built = it.finish();
    expect(rowCounts(built)).toEqual({ raw_records: 2, price_ticks: 2 });
    expect(built?.stats.duplicates).toBe(3);
  });

  it('drops pieces that were sent twice', () => {
    const piece = (i: number) =>
      envelope({ sequence: 1, piece: { i, of: 2 }, bodyJson: JSON.stringify(i === 0 ? '{"t":' : '"PING"}') });
    const it = builder();
    it.add(recordBatch([piece(0), piece(0), piece(1), piece(0), piece(1)]));
    const built = it.finish();
    expect(rowCounts(built)).toEqual({ raw_records: 2 });
    expect(built?.stats).toMatchObject({ duplicates: 3, deadLetters: 0 });
  });

  it('is full at its limit of rows; the next batch continues with the next record', () => {
    const values = Array.from({ length: 300 }, (_, i) => priceRecord(i + 1));
    const it = builder({ limits: { ...limits, rows: 100 } });
    const taken: number[] = [];
    for (let from = 0; from < values.length; ) {
      const next = it.add(recordBatch(values), from);
      taken.push(next - from);
      from = next;
      const built = it.finish();
      expect(built?.end).toBe(next - 1);
    }
    expect(taken.reduce((sum, n) => sum + n, 0)).toBe(300);
    expect(Math.max(...taken)).toBeLessThan(150);
  });

  it('is full at its limit of bytes', () => {
    const big = envelope({ sequence: 1, encoding: 'text', bodyJson: JSON.stringify('x'.repeat(5000)) });
    const it = builder({ limits: { ...limits, bytes: 4000 } });
    expect(it.add(recordBatch([big, priceRecord(2)]))).toBe(1);
    expect(it.full).toBe(true);
  });

  it('has a dead letter with the exact text of a record that cannot be understood', () => {
    const nested = '['.repeat(200_000) + ']'.repeat(200_000);
    const verbatim = '{"t" : "NEWS","c":1e999,"p":0.10, "é":12345678901234567890}';
    for (const kind of ['order-book.frame', 'chance.frame'] as const) {
      const it = builder();
      it.add(
        recordBatch([
          envelope({ sequence: 1, kind, bodyJson: verbatim }),
          envelope({ sequence: 2, kind, bodyJson: nested }),
        ]),
      );
      const letters = it.finish()?.blocks.find((block) => block.table.name === 'dead_letters');
      expect(letters?.rows).toBe(2);
      expect(letters?.body.includes(verbatim)).toBe(true);
      expect(letters?.body.includes('['.repeat(4096))).toBe(true);
    }
  });

  it('has the payloads of the first 1000 dead letters of one reason only; other bodies expire', () => {
    const invalid = (n: number) => envelope({ sequence: n, bodyJson: `{"t":"NEWS-${n}","pad":"${'x'.repeat(50)}"}` });
    const broken = (n: number) => envelope({ sequence: n, bodyJson: delta([{ o: MARKET, c: `broken ${n}` }]) });
    const values = Array.from({ length: 1200 }, (_, i) => invalid(i + 1));
    const it = builder({ bodyDays: 1 });
    it.add(recordBatch([...values, broken(1201)]));
    const built = it.finish();
    expect(built?.stats).toMatchObject({ deadLetters: 1201, payloadsOmitted: 200 });
    const body = (table: string) => String(built?.blocks.find((block) => block.table.name === table)?.body);
    const letters = body('dead_letters');
    expect(rowCounts(built)['dead_letters']).toBe(1201);
    expect(letters).toContain('NEWS-1000');
    expect(letters).not.toContain('{"t":"NEWS-1001"');
    expect(letters).toContain('broken 1201');
    const raw = built?.blocks.find((block) => block.table.name === 'raw_records');
    const forever = Buffer.from([0xff, 0xff, 0xff, 0xff]);
    let kept = 0;
    for (let at = raw?.body.indexOf(forever) ?? -1; at >= 0; at = raw?.body.indexOf(forever, at + 4) ?? -1) kept += 1;
    expect(kept).toBe(1001);
    expect(body('raw_records')).toContain('{"t":"NEWS-1200"');
    // The next batch counts from 0.
    it.add(recordBatch([invalid(1300)], 1201));
    expect(it.finish()?.stats).toMatchObject({ deadLetters: 1, payloadsOmitted: 0 });
  });

  it.each([
    ['was kept as text', (text: string) => [envelope({ encoding: 'text', bodyJson: JSON.stringify(text) })]],
    ['was kept as JSON', (text: string) => [envelope({ bodyJson: text })]],
    [
      'came in pieces',
      (text: string) =>
        [0, 1].map((i) => {
          const half = text.slice((i * text.length) / 2, ((i + 1) * text.length) / 2);
          return envelope({ piece: { i, of: 2 }, bodyJson: JSON.stringify(half) });
        }),
    ],
  ] as const)('never parses an absurd body: where it %s it is one dead letter', (_, recordsOf) => {
    const text = `[${'{},'.repeat(1_499_999)}{}]`;
    const it = builder({ bodyDays: 0 });
    const values = recordsOf(text);
    it.add(recordBatch([...values, priceRecord(2)]));
    const built = it.finish();
    expect(rowCounts(built)).toEqual({ raw_records: values.length + 1, price_ticks: 1, dead_letters: 1 });
    const letter = built?.blocks.find((block) => block.table.name === 'dead_letters')?.body;
    expect(letter?.includes('the received body holds more than 320000 brackets, colons and commas')).toBe(true);
    expect(letter?.includes(text.slice(0, 4096))).toBe(true);
    expect(letter?.length).toBeLessThan(5000);
  });

  it.each([
    ['without an end', `{"v":1,"body":[${'{},'.repeat(300_000)}`],
    ['with a million members', `{${Array.from({ length: 1_000_000 }, (_, n) => `"${n}":1`).join()}}`],
    ['with an absurd request', `{"v":1,"req":[${'{},'.repeat(400_000)}1],"body":1}`],
    ['with a name that is none', `{"v":1,"\\x":[${'{},'.repeat(400_000)}1],"body":1}`],
  ])('never parses an absurd record %s: it is one dead letter', (_, text) => {
    const it = builder();
    it.add(recordBatch([Buffer.from(text)]));
    const built = it.finish();
    expect(rowCounts(built)).toEqual({ dead_letters: 1 });
    expect(String(built?.blocks[0]?.body)).toMatch(/the record holds more than \d+ (brackets|different names)/);
  });

  it('accepts a body at the limit that exceeds it together with its envelope', () => {
    const prices = Array.from({ length: 35_552 }, () => ({ o: MARKET, c: 0.5, b: 0.4, a: 0.6 }));
    const entries = [...prices, ...Array.from({ length: 19 }, () => 0)];
    const body = Buffer.from(delta(entries));
    expect(jsonExcess(body)).toBeUndefined();
    expect(jsonExcess(envelope({ bodyJson: body.toString() }))).toBeDefined();
    const it = builder();
    it.add(recordBatch([envelope({ bodyJson: body.toString() })]));
    expect(rowCounts(it.finish())).toMatchObject({ price_ticks: 35_552, dead_letters: 19 });
  });

  it('takes all pieces of a body, regardless of the memory share of its partition', () => {
    const entry = { o: MARKET, c: 0.5, b: 0.4, a: 0.6, pad: 'x'.repeat(500) };
    const body = delta(Array.from({ length: 28_000 }, () => entry));
    expect(body.length).toBeGreaterThan(14 * 2 ** 20);
    const size = 140_000;
    const of = Math.ceil(body.length / size);
    const pieces = Array.from({ length: of }, (_, i) =>
      envelope({
        sequence: 1,
        sessionId: 'p',
        piece: { i, of },
        bodyJson: JSON.stringify(body.slice(i * size, (i + 1) * size)),
      }),
    );
    // The batch is nearly full when the first piece arrives.
    const before = Array.from({ length: 950 }, (_, i) => priceRecord(i + 1));
    const it = builder({ limits: { ...limits, bytes: 1e6 } });
    expect(it.add(recordBatch([...before, ...pieces]))).toBe(950 + of);
    expect(rowCounts(it.finish())).toEqual({ raw_records: 950 + of, price_ticks: 950 + 28_000 });
  });

  it('does not end while a body waits for its pieces, up to a limit', () => {
    const piece = envelope({ sequence: 1, sessionId: 'p', piece: { i: 0, of: 2 }, bodyJson: '"{"' });
    const values = [piece, ...Array.from({ length: 300 }, (_, i) => priceRecord(i + 1))];
    const it = builder({ limits: { ...limits, rows: 100 } });
    const taken = it.add(recordBatch(values));
    expect(it.awaitsPieces).toBe(true);
    expect(taken).toBeGreaterThanOrEqual(200);
    expect(taken).toBeLessThan(250);
    expect(rowCounts(it.finish())['dead_letters']).toBe(1);
  });

  it('ends before a record of one month too many', () => {
    const at = (month: number) => Date.UTC(2026, month, 3) * 1000;
    const values = [0, 0, 1, 2, 0].map((month, i) =>
      envelope({ sequence: i + 1, receivedAt: at(month), bodyJson: delta([]) }),
    );
    const it = builder({ limits: { ...limits, months: 2 } });
    expect(it.add(recordBatch(values))).toBe(3);
    expect(it.full).toBe(true);
    expect(it.finish()?.end).toBe(2);
    expect(it.add(recordBatch(values), 3)).toBe(5);
  });

  it('reports the receive time of its newest record', () => {
    const it = builder();
    it.add(
      recordBatch([
        envelope({ sequence: 1, receivedAt: AT + 9, bodyJson: `{"t":"PRICES_DATA","e":"${EVENT}","d":[]}` }),
        priceRecord(2),
      ]),
    );
    expect(it.finish()?.stats.lastReceivedAt).toBe(AT + 9);
  });
});
