import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordKind } from '../../core/index.js';
import { repeatedName } from '../../transforms/json/repeated-names.js';
import { transformRecord } from '../../transforms/kinds/transform-record.js';
import { Privacy } from '../../transforms/record/privacy.js';
import { RecordOutput } from '../../transforms/record/record-output.js';
import { chancePoints } from '../../transforms/tables/chance-points.js';
import { coinObservations } from '../../transforms/tables/coin-observations.js';
import { eventObservations } from '../../transforms/tables/event-observations.js';
import { marketObservations } from '../../transforms/tables/market-observations.js';
import { tradeRecords } from '../../transforms/tables/trade-records.js';
import { EVENT, MARKET, OTHER_MARKET, record } from './support.js';

/** The output of a record of a kind with this body. */
function made(kind: RecordKind, text: string, req: Readonly<Record<string, unknown>> = {}): RecordOutput {
  const output = new RecordOutput();
  const whole = {
    record: record(kind, JSON.parse(text), { request: req }),
    bodyText: () => text,
    privacy: new Privacy(),
  };
  transformRecord(whole, output);
  return output;
}

const frame = (...entries: string[]): string =>
  `{"t":"PRICES_DATA_DELTA", "e":"${EVENT}","d":[ ${entries.join(' , ')} ]}`;
const good = `{"o":"${OTHER_MARKET}","c":0.5,"b":0.4,"a":0.6}`;

describe('an invalid entry', () => {
  it.each([
    ['an object', `{ "o" : "${MARKET}", "c":0.10,"b":1e999, "a":1.50, "é":"\\u00e9" }`],
    ['a number', '0.10'],
    ['a text', '"\\u0041"'],
    ['null', 'null'],
    ['a list', '[ 1.0, {} ]'],
  ])('is kept character for character: %s', (_, entry) => {
    const output = made('order-book.frame', frame(good, entry, good));
    expect(output.priceTicks).toHaveLength(2);
    expect(output.deadLetters).toMatchObject([{ payload: entry, payloadLength: entry.length }]);
    expect(output.deadLetters[0]?.jsonPath).toMatch(/^d\[1\]/);
  });

  it('is distinguished from others with the same parsed value', () => {
    const output = made('order-book.frame', frame('0.10', '0.1', '1e-1', '{"c":0.10}', '{"c":0.1}'));
    expect(output.deadLetters.map((letter) => letter.payload)).toEqual([
      '0.10',
      '0.1',
      '1e-1',
      '{"c":0.10}',
      '{"c":0.1}',
    ]);
  });

  it('has its exact text in maps, in wrappers, in lists of lists, and in bodies with exact numbers', () => {
    const history = made(
      'chance.frame',
      `{"t":"HISTORY_RESPONSE","e":"${EVENT}","d":{"${MARKET}": 5.0,"${OTHER_MARKET}":[{"t":1,"p":0.5}, {"t":2,"p":1.50}]}}`,
    );
    expect(history.deadLetters.map((letter) => letter.payload)).toEqual(['5.0', '{"t":2,"p":1.50}']);
    const events = made(
      'reference.events',
      '{"content":[{"id":"e1","outcomes":[{"marketId": 1.0}, {"marketId":"m"}]}]}',
    );
    expect(events.deadLetters.map((letter) => letter.payload)).toEqual(['{"marketId": 1.0}']);
    expect(events.rowsOf(marketObservations)).toHaveLength(1);
    const trades = made('account.trades', '{"i":[{"i":"r", "q":"1.0000 shares","p":0.10}],"p":0}', { account: 'a' });
    expect(trades.deadLetters.map((letter) => letter.payload)).toEqual(['{"i":"r", "q":"1.0000 shares","p":0.10}']);
  });

  it('is truncated to 4096 characters, with its full length', () => {
    const entry = `{"o":5,"x":"${'é'.repeat(5000)}"}`;
    const [letter] = made('order-book.frame', frame(good, entry)).deadLetters;
    expect(letter).toMatchObject({ payload: entry.slice(0, 4096), payloadLength: entry.length });
  });

  it('is found beside a value that is nested very deep', () => {
    const deep = `{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const [first, second] = made('order-book.frame', frame(deep, '0.10')).deadLetters;
    expect(first).toMatchObject({ payload: deep.slice(0, 4096), payloadLength: deep.length });
    expect(second).toMatchObject({ payload: '0.10' });
  });

  it('has the JSON of its parsed value in a body of more than 256 KiB', () => {
    const [letter] = made('order-book.frame', `${frame(good, '{ "o" : 5 }')}${' '.repeat(300_000)}`).deadLetters;
    expect(letter).toMatchObject({ jsonPath: 'd[1].o', payload: '{"o":5}' });
  });

  it.each([
    ['white space', `[${' '.repeat(6_000_000)}]`],
    ['escapes', `["${'\\n'.repeat(3_000_000)}"]`],
    ['entries', `[${Array.from({ length: 60_000 }, () => '{"o":5}').join()}]`],
  ])('costs little more than parsing in a body of megabytes of %s', (_, list) => {
    const text = `{"t":"PRICES_DATA","e":"${EVENT}","d":[5],"x":${list}}`;
    const before = process.cpuUsage();
    expect(made('order-book.frame', text).deadLetters).toMatchObject([{ jsonPath: 'd[0]', payload: '5' }]);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(0.5);
  });
});

describe('a repeated name', () => {
  const twice = `{"o":"${MARKET}","c":0.5,"b":0.4,"a":0.6,"c":0.10}`;

  it.each([
    ['in an entry', frame(good, twice, good), 'd[1]', 'c'],
    ['in the frame', `{"t":"PRICES_DATA","e":"${EVENT}","d":[${good}],"d":[]}`, '', 'd'],
    ['in many entries: the first is named', frame(...Array.from({ length: 500 }, () => twice)), 'd[0]', 'c'],
    ['with the same value', frame(`{"o":1,"o":1}`), 'd[0]', 'o'],
    ['as an escape', frame('{"o":1,"\\u006f":2}'), 'd[0]', 'o'],
    ['in an object that holds another', frame('{"x":{},"y":[{"z":1,"z":2}],"x":1}'), 'd[0].y[0]', 'z'],
  ])('makes the whole body one dead letter: %s', (_, text, jsonPath, name) => {
    const output = made('order-book.frame', text);
    expect(output.priceTicks).toEqual([]);
    expect(output.deadLetters).toEqual([
      {
        jsonPath,
        reason: `gives the name "${name}" more than once`,
        payload: text.slice(0, 4096),
        payloadLength: text.length,
      },
    ]);
  });

  it('is found in maps, in fields without a column, and in bodies with exact numbers', () => {
    const chance = made(
      'chance.frame',
      `{"t":"probability","e":"${EVENT}","d":{"m1":{"t":1,"p":0.5},"\\u006d1":{"t":2,"p":0.6}}}`,
    );
    expect(chance.rowsOf(chancePoints)).toEqual([]);
    expect(chance.deadLetters).toMatchObject([{ jsonPath: 'd', reason: 'gives the name "m1" more than once' }]);
    const events = made('reference.events', '{"content":[{"id":"e1","title":"T","category":{"s":"a","s":"b"}}]}');
    expect(events.rowsOf(eventObservations)).toEqual([]);
    expect(events.deadLetters).toMatchObject([{ jsonPath: 'content[0].category' }]);
    const trade = '{"i":"r","i":"s","t":"x","q":1,"p":0.5}';
    const trades = made('account.trades', `{"i":[${trade}],"p":0}`, { account: 'a' });
    expect(trades.rowsOf(tradeRecords)).toEqual([]);
    expect(trades.deadLetters).toMatchObject([{ jsonPath: 'i[0]', reason: 'gives the name "i" more than once' }]);
  });

  it('is found at any depth, and in bodies of megabytes, where it is not quoted', () => {
    const deep = `${'['.repeat(50_000)}{"a":1,"a":2}${']'.repeat(50_000)}`;
    expect(made('order-book.frame', deep).deadLetters).toMatchObject([
      { jsonPath: '', reason: 'gives the name "a" more than once' },
    ]);
    expect(made('order-book.frame', `${frame(twice)}${' '.repeat(300_000)}`).deadLetters).toMatchObject([
      { jsonPath: '', reason: 'an object gives a name more than once' },
    ]);
  });

  it('is not reported without one', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.nat(3), (value, indent) => {
        expect(repeatedName(() => JSON.stringify(value, null, indent), undefined, value)).toBeUndefined();
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});

describe('a lone surrogate', () => {
  it('in an ID makes its record a dead letter, with the escaped ID', () => {
    const output = made('order-book.frame', frame(good, `{"o":"m\\ud800","c":0.5,"b":0.4,"a":0.6}`));
    expect(output.priceTicks).toHaveLength(1);
    expect(output.deadLetters).toMatchObject([
      { jsonPath: 'd', reason: 'expected an ID of valid Unicode, got a lone surrogate', payload: '"m\\ud800"' },
    ]);
    const coins = made('reference.coins', '[{"i":"\\udc00"},{"i":"c"}]');
    expect(coins.rowsOf(coinObservations)).toHaveLength(1);
    expect(coins.deadLetters).toHaveLength(1);
    const events = made(
      'reference.events',
      '{"content":[{"id":"e\\ud83d"},{"id":"e","outcomes":[{"marketId":"\\ud83d"},{"marketId":"\\ud83d\\ude00"}]}]}',
    );
    expect(events.rowsOf(eventObservations)).toHaveLength(1);
    expect(events.rowsOf(marketObservations).map(({ market }) => market.marketId)).toEqual(['😀']);
    expect(events.deadLetters.map((letter) => letter.jsonPath)).toEqual(['id', 'marketId']);
  });

  it('in a text becomes U+FFFD in the row', () => {
    const output = made('reference.events', '{"content":[{"id":"e","title":"a \\ud800 b"}]}');
    const [row] = output.rowsOf(eventObservations);
    expect(Buffer.from(row?.event.title ?? '').toString()).toBe('a \ufffd b');
    expect(output.deadLetters).toEqual([]);
  });
});
