import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transformRecord } from '../../transforms/kinds/transform-record.js';
import { Interned } from '../../transforms/native/interned.js';
import { readEnvelope } from '../../transforms/record/envelope.js';
import { OrderBookScanner } from '../../transforms/record/order-book-scanner.js';
import { Privacy } from '../../transforms/record/privacy.js';
import { RecordOutput } from '../../transforms/record/record-output.js';
import type { PriceTick } from '../../transforms/tables/price-ticks.js';
import {
  AT,
  delta,
  EVENT,
  envelope,
  MARKET,
  OTHER_MARKET,
  priceRecord,
  SID,
  SOURCE_PARTITION,
  STREAM_REQ,
} from './support.js';

const REQUEST = Buffer.from(JSON.stringify(STREAM_REQ));

function scanner(): { scan: OrderBookScanner; interned: Interned } {
  const interned = new Interned();
  for (const id of [SID, EVENT, MARKET, OTHER_MARKET, 'e', 'market "quoted"', 'märkt', 'x'.repeat(36)])
    interned.ids.intern(id);
  const scan = new OrderBookScanner(interned);
  scan.learnRequest(REQUEST);
  return { scan, interned };
}

/** The scanner's result in the form of the general path. */
function understood(scan: OrderBookScanner, interned: Interned): PriceTick[] {
  const side = (number: number) => (number < 0 ? null : interned.prices.valueOf(number));
  return Array.from({ length: scan.entries }, (_, i) => ({
    receivedAt: scan.receivedAt,
    eventId: interned.ids.textOf(scan.event),
    marketId: interned.ids.textOf(scan.market[i] as number),
    last: interned.prices.valueOf(scan.last[i] as number),
    bid: side(scan.bid[i] as number),
    ask: side(scan.ask[i] as number),
    source: scan.source === 1 ? 'snapshot' : 'delta',
    repeated: false,
  }));
}

/** Fails when the scanner accepts a record that the general path reads differently; returns whether it accepted. */
function agrees(value: Buffer): boolean {
  const { scan, interned } = scanner();
  // Bytes around the record must not matter.
  const bytes = Buffer.concat([Buffer.from('"}]}'), value, Buffer.from('0123456789')]);
  scan.use(bytes);
  if (!scan.scan(4, 4 + value.length)) return false;
  const envelope = readEnvelope(value, SOURCE_PARTITION.topic);
  if (!envelope.ok || envelope.bodyFault) throw new Error('accepted a record whose envelope cannot be read');
  const output = new RecordOutput();
  const { record, members } = envelope;
  transformRecord({ record, bodyText: () => JSON.stringify(record.body), privacy: new Privacy() }, output);
  expect(understood(scan, interned)).toEqual(output.priceTicks);
  expect([output.deadLetters, output.extraFields, output.exchangeErrors]).toEqual([[], 0, 0]);
  expect([interned.ids.textOf(scan.sessionId), scan.sequence, scan.receivedAt]).toEqual([
    record.sessionId,
    record.sequence,
    record.receivedAt,
  ]);
  expect([interned.ids.textOf(scan.kind), interned.ids.textOf(scan.encoding)]).toEqual([record.kind, 'json']);
  expect([record.piece, record.encoding]).toEqual([undefined, undefined]);
  expect(members.get('body')).toMatchObject({ start: scan.bodyStart - 4, end: scan.bodyEnd - 4 });
  expect(members.get('req')).toMatchObject({ start: scan.requestStart - 4, end: scan.requestEnd - 4 });
  return true;
}

const entry = { o: MARKET, c: 0.5, b: 0.49, a: 0.51 };

describe('the fast path of order book records', () => {
  it.each([
    ['a delta of one entry', priceRecord(1)],
    ['no entry', envelope({ bodyJson: delta([]) })],
    ['many entries', envelope({ bodyJson: delta(Array.from({ length: 300 }, () => entry)) })],
    ['a snapshot', envelope({ bodyJson: `{"t":"PRICES_DATA","e":"${EVENT}","d":[${JSON.stringify(entry)}]}` })],
    [
      'another order of members',
      envelope({
        bodyJson: `{"d":[{"a":1,"b":0,"c":0.123456789012345,"o":"${MARKET}"}],"e":"${EVENT}","t":"PRICES_DATA_DELTA"}`,
      }),
    ],
    ['a short event ID', envelope({ bodyJson: delta([entry], 'e') })],
    ['a large n', envelope({ sequence: Number.MAX_SAFE_INTEGER, bodyJson: delta([entry]) })],
  ])('takes %s', (_, value) => {
    expect(agrees(value)).toBe(true);
  });

  it.each([
    ['a space', envelope({ bodyJson: delta([entry]).replace(':', ': ') })],
    ['a further field', envelope({ bodyJson: delta([{ ...entry, x: 1 }]) })],
    ['a field twice', envelope({ bodyJson: delta([entry]).replace('"c":', '"c":0.1,"c":') })],
    ['a missing field', envelope({ bodyJson: delta([{ o: MARKET, c: 0.5, b: 0.4 }]) })],
    ['an unknown market', envelope({ bodyJson: delta([{ ...entry, o: 'other' }]) })],
    ['an empty market', envelope({ bodyJson: delta([{ ...entry, o: '' }]) })],
    ['a market with quotes', envelope({ bodyJson: delta([{ ...entry, o: 'market "quoted"' }]) })],
    ['an unknown session', envelope({ sessionId: 'someone', bodyJson: delta([entry]) })],
    ['an unknown request', envelope({ requestJson: '{}', bodyJson: delta([entry]) })],
    ['a price above 1', envelope({ bodyJson: delta([{ ...entry, c: 1.5 }]) })],
    ['a price with an exponent', envelope({ bodyJson: delta([{ ...entry, c: 1e-7 }]) })],
    ['a price below 0', envelope({ bodyJson: delta([{ ...entry, c: -0.5 }]) })],
    ['a price as text', envelope({ bodyJson: delta([{ ...entry, c: '0.5' }]) })],
    ['a number that JSON does not have', envelope({ bodyJson: delta([entry]).replace('0.5', '00.5') })],
    ['a point without digits', envelope({ bodyJson: delta([entry]).replace('0.51', '0.') })],
    ['n 0', envelope({ sequence: 0, bodyJson: delta([entry]) })],
    ['n with a zero in front', Buffer.from(priceRecord(1).toString().replace('"n":1', '"n":01'))],
    ['a time of another century', envelope({ receivedAt: 5, bodyJson: delta([entry]) })],
    ['a control message', envelope({ bodyJson: '{"t":"PING"}' })],
    ['something after the frame', Buffer.concat([priceRecord(1), Buffer.from('}')])],
    ['a record that is cut', priceRecord(1).subarray(0, -1)],
    ['a body that is text', envelope({ encoding: 'text', bodyJson: JSON.stringify(delta([entry])) })],
  ])('leaves %s to the general path', (_, value) => {
    expect(agrees(value)).toBe(false);
  });

  it('reads every accepted form of a price as the double that JSON.parse returns', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 17 });
    fc.assert(
      fc.property(digits, digits, (c, b) => {
        const accepted = agrees(
          envelope({
            bodyJson: `{"t":"PRICES_DATA","e":"${EVENT}","d":[{"o":"${MARKET}","c":0.${c},"b":0.${b},"a":1}]}`,
          }),
        );
        expect(accepted).toBe(c.length <= 15 && b.length <= 15);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it('reads accepted records as the general path does, for any modification of a record', () => {
    const records = [
      priceRecord(17),
      envelope({ bodyJson: delta([entry, { ...entry, o: OTHER_MARKET, c: 1, b: 0.1, a: 1 }]) }),
      envelope({ sequence: 2, receivedAt: AT + 5, bodyJson: `{"t":"PRICES_DATA","e":"e","d":[]}` }),
    ];
    const byte = fc.oneof(
      fc.constantFrom(...Buffer.from('",:{}[]0123456789.eE-tdocba\\ \n')),
      fc.integer({ min: 0, max: 255 }),
    );
    const edit = fc.record({ at: fc.nat(), byte, how: fc.constantFrom('replace', 'insert', 'remove', 'copy') });
    let accepted = 0;
    fc.assert(
      fc.property(fc.constantFrom(...records), fc.array(edit, { maxLength: 3 }), (original, edits) => {
        let value: Buffer = original;
        for (const { at, byte: with_, how } of edits) {
          const position = at % (value.length + 1);
          const rest = how === 'insert' ? position : position + 1;
          const middle =
            how === 'remove' ? [] : how === 'copy' ? [...value.subarray(position, position + 12)] : [with_];
          value = Buffer.concat([value.subarray(0, position), Buffer.from(middle), value.subarray(rest)]);
        }
        if (agrees(value)) accepted += 1;
      }),
      { seed: 7, numRuns: 5000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });
});
