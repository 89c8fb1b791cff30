import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeApiKeyInfo, decodeCreatedApiKey, decodeLogin } from '../../client/decode/account/api-key.js';
import {
  decodeActiveOrders,
  decodeActivity,
  decodeBalanceStreamMessage,
  decodeBalances,
  decodeDepositAddress,
  decodeOpenPositions,
  decodeOrderStreamMessage,
  decodeOrders,
  decodePositionStats,
  decodeProfileStats,
  decodeTpslOrders,
  decodeTrades,
  decodeTransactions,
  type LosslessJson,
  parseLossless,
} from '../../client/index.js';

const AT = '2025-11-21T10:00:00.123456Z';
const AT_MICROS = 1_763_719_200_123_456;

type Decode = (body: LosslessJson) => ReturnType<typeof decodeTrades> | { ok: unknown };
type Case = readonly [name: string, decode: Decode, wire: string, record: unknown];

/** Every record of part 2 as sent, and its decoded form. */
const RECORDS: readonly Case[] = [
  [
    'an open position',
    decodeOpenPositions as Decode,
    `{"oi":"o1","ei":"e1","eoi":"m1","ai":"a1","et":"Title","eic":"icon","es":"slug","eim":"image","on":"Outcome","tn":"YES",
      "ip":true,"tsc":10.01,"asc":9.99,"sp":0.55,"c":5.505500,"cp":0.6,"v":6.006,"tpsl":[{"i":"t1","q":1,"tpp":0.9,"slp":null}],
      "pv":-0.5005,"pp":-9.090909090909091,"od":"${AT}"}`,
    {
      orderId: 'o1',
      eventId: 'e1',
      marketId: 'm1',
      assetId: 'a1',
      eventTitle: 'Title',
      eventIconUrl: 'icon',
      eventSlug: 'slug',
      eventImageUrl: 'image',
      outcomeName: 'Outcome',
      tokenName: 'YES',
      primary: true,
      totalShares: '10.01',
      availableShares: '9.99',
      entryPrice: '0.55',
      cost: '5.5055',
      currentPrice: '0.6',
      currentValue: '6.006',
      tpslOrders: [{ tpslId: 't1', quantity: '1', takeProfitPrice: '0.9', stopLossPrice: null }],
      pnl: '-0.5005',
      pnlPercent: '-9.090909090909091',
      openedAtMicros: AT_MICROS,
    },
  ],
  [
    'an active order',
    decodeActiveOrders as Decode,
    '{"id":"o1","status":"ACTIVE","side":"BUY","price":0.10,"quantity":100000000000000000000.01}',
    { orderId: 'o1', status: 'ACTIVE', side: 'BUY', price: '0.1', quantity: '100000000000000000000.01' },
  ],
  [
    'an order of the history',
    decodeOrders as Decode,
    '{"i":"o1","u":"u1","e":"e1","o":"m1","a":"a1","oq":3,"si":"SELL","t":"LIMIT","p":0.01,"m":1763719200123,"ex":null,"st":"FILLED","q":3}',
    {
      orderId: 'o1',
      userId: 'u1',
      eventId: 'e1',
      marketId: 'm1',
      assetId: 'a1',
      originalQuantity: '3',
      side: 'SELL',
      orderType: 'LIMIT',
      price: '0.01',
      placedAtMicros: 1_763_719_200_123_000,
      expiresAtMicros: null,
      status: 'FILLED',
      filledQuantity: '3',
    },
  ],
  [
    'a trade',
    decodeTrades as Decode,
    `{"i":"r1","t":"t1","u":"u1","or":"o1","s":"BUY","e":"e1","o":"m1","a":"a1","q":0.07,"p":0.99,"f":0.000139,"m":"${AT}"}`,
    {
      tradeRecordId: 'r1',
      tradeId: 't1',
      userId: 'u1',
      orderId: 'o1',
      side: 'BUY',
      eventId: 'e1',
      marketId: 'm1',
      assetId: 'a1',
      quantity: '0.07',
      price: '0.99',
      fee: '0.000139',
      executedAtMicros: AT_MICROS,
    },
  ],
  [
    'a transaction',
    decodeTransactions as Decode,
    `{"i":"x1","u":"u1","a":"a1","eq":"Will it?","ei":"icon","es":"slug","on":"Outcome","tn":"NO","ip":false,"t":"PAYOUT",
      "am":12.000001,"s":"COMPLETED","cat":"${AT}","e":"ext","f":0,"ta":"0xabc","bu":"https://chain","bn":"chain"}`,
    {
      transactionId: 'x1',
      userId: 'u1',
      assetId: 'a1',
      eventQuestion: 'Will it?',
      eventIconUrl: 'icon',
      eventSlug: 'slug',
      outcomeName: 'Outcome',
      tokenName: 'NO',
      primary: false,
      transactionType: 'PAYOUT',
      amount: '12.000001',
      status: 'COMPLETED',
      createdAtMicros: AT_MICROS,
      externalTransactionId: 'ext',
      fee: '0',
      withdrawalAddress: '0xabc',
      blockchainUrl: 'https://chain',
      blockchainName: 'chain',
    },
  ],
  [
    'an activity item',
    decodeActivity as Decode,
    `{"u":"u1","tra":"r1","n":"name","oi":"m1","on":"Outcome","p":"YES","si":"BUY","q":5,"x":"${AT}","eq":"Will it?","ei":"icon",
      "es":"slug","tn":"YES","ip":true,"pr":0.42,"ev":1000.5,"uv":null}`,
    {
      userId: 'u1',
      tradeRecordId: 'r1',
      username: 'name',
      marketId: 'm1',
      outcomeName: 'Outcome',
      position: 'YES',
      side: 'BUY',
      quantity: '5',
      executedAtMicros: AT_MICROS,
      eventQuestion: 'Will it?',
      eventIconUrl: 'icon',
      eventSlug: 'slug',
      tokenName: 'YES',
      primary: true,
      price: '0.42',
      eventVolume: '1000.5',
      userVolume: null,
    },
  ],
  [
    'a TP/SL order',
    decodeTpslOrders as Decode,
    '{"i":"t1","q":1.5,"tpp":null,"slp":0.2}',
    { tpslId: 't1', quantity: '1.5', takeProfitPrice: null, stopLossPrice: '0.2' },
  ],
  [
    'a balance',
    decodeBalances as Decode,
    '{"i":"usdc","b":1000000.000001,"f":0.1,"n":"USD Coin","sn":"USDC","v":1000000.000001}',
    {
      assetId: 'usdc',
      balance: '1000000.000001',
      free: '0.1',
      name: 'USD Coin',
      ticker: 'USDC',
      value: '1000000.000001',
    },
  ],
];

const SINGLE: readonly Case[] = [
  [
    'profile stats',
    decodeProfileStats as Decode,
    `{"profile":{"userId":"u1","username":"name","joinedAt":"${AT}","me":true},"cards":{"positionValue":1.10,"volumeTraded":2,"marketsTraded":3}}`,
    {
      userId: 'u1',
      username: 'name',
      joinedAtMicros: AT_MICROS,
      me: true,
      positionValue: '1.1',
      volumeTraded: '2',
      marketsTraded: 3,
    },
  ],
  [
    'position stats',
    decodePositionStats as Decode,
    `{"tab":"active","ti":7,"od":"${AT}","cd":null}`,
    { tab: 'active', totalItems: 7, openedAtMicros: AT_MICROS, closedAtMicros: null },
  ],
  [
    'a deposit address',
    decodeDepositAddress as Decode,
    '{"i":"usdc","a":"0xabc"}',
    { assetId: 'usdc', address: '0xabc' },
  ],
];

const whole = (decode: Decode, text: string) => {
  const decoded = decode(parseLossless(text)) as ReturnType<typeof decodeTrades>;
  if (!decoded.ok) throw new Error(`${decoded.path}: ${decoded.reason}`);
  return decoded;
};

describe('records of an account', () => {
  it.each(RECORDS)(
    '%s has every field of part 2, amounts exact [2/tpsl 2/open-position 2/active-order 2/order 2/trade 2/transaction 2/activity 2/stats 2/position-stats 2/deposit-address 2/balance]',
    (_, decode, wire, record) => {
      expect(whole(decode, `[${wire}]`)).toMatchObject({ items: [record], invalidEntries: [], extraFields: [] });
    },
  );

  it.each(SINGLE)(
    '%s has every field of part 2, amounts exact [2/tpsl 2/open-position 2/active-order 2/order 2/trade 2/transaction 2/activity 2/stats 2/position-stats 2/deposit-address 2/balance]',
    (_, decode, wire, record) => {
      expect(whole(decode, wire)).toMatchObject({ items: [record], invalidEntries: [], extraFields: [] });
    },
  );

  it.each(RECORDS)(
    '%s is read from every wrapper that the interface documents or leaves open [4.3/transactions 4.4/wrapper 4.4/trades]',
    (_, decode, wire, record) => {
      const none = { page: null, size: null, totalPages: null, totalItems: null };
      const wrappers: [string, object][] = [
        [`[${wire}]`, none],
        [`{"i":[${wire}],"p":2,"s":20,"tp":3}`, { ...none, page: 2, size: 20, totalPages: 3 }],
        [`{"i":[${wire}],"p":0,"s":20,"t":41}`, { ...none, page: 0, size: 20, totalItems: 41 }],
        [`{"content":[${wire}],"totalElements":9,"totalPages":3}`, { ...none, totalPages: 3, totalItems: 9 }],
      ];
      for (const [text, page] of wrappers) expect(whole(decode, text)).toMatchObject({ items: [record], page });
    },
  );

  it.each(RECORDS)('%s reads the same when its numbers are strings', (_, decode, wire, record) => {
    const quoted = wire.replace(/("\w+":)(-?\d[\d.]*)/g, '$1"$2"');
    expect(whole(decode, `[${quoted}]`)).toMatchObject({ items: [record], invalidEntries: [] });
  });

  it.each(RECORDS)('%s excludes undocumented fields from the record, and counts them', (_, decode, wire) => {
    const more = wire.replace('{', '{"surprise":{"deep":[1]},');
    const decoded = whole(decode, `[${more}]`);
    expect(decoded.items).toEqual(whole(decode, `[${wire}]`).items);
    expect(decoded.extraFields).toEqual(['surprise']);
  });

  it('have null for absent fields, except IDs and subjects, which are required [2/statuses]', () => {
    expect(whole(decodeTrades as Decode, '[{"i":"r1","q":1,"p":0.5}]').items).toEqual([
      {
        tradeRecordId: 'r1',
        tradeId: null,
        userId: null,
        orderId: null,
        side: null,
        eventId: null,
        marketId: null,
        assetId: null,
        quantity: '1',
        price: '0.5',
        fee: null,
        executedAtMicros: null,
      },
    ]);
  });

  it('are decoded although one of them is invalid, which is reported with path and reason', () => {
    const { items, invalidEntries } = whole(
      decodeTrades as Decode,
      '{"i":[{"i":"r1","q":1,"p":0.5},{"i":2,"q":1,"p":1},{"i":"r3","p":1},{"i":"r4","q":"lots","p":1},5,null,[],{"i":"r8","q":1,"p":1,"m":"later"}],"p":0}',
    );
    expect(items.length).toBe(1);
    expect(invalidEntries.map(({ index, path, reason }) => `${index} ${path}: ${reason}`)).toEqual([
      '1 i[1].i: expected a string, got number 2',
      '2 i[2].q: expected a number, got nothing',
      '3 i[3].q: expected a number, got string "lots"',
      '4 i[4]: expected an object, got number 5',
      '5 i[5]: expected an object, got null',
      '6 i[6]: expected an object, got an array',
      '7 i[7].m: expected a time in ISO 8601 or epoch milliseconds, got string "later"',
    ]);
  });

  it('decode a position whose TP/SL order is invalid', () => {
    const { items, invalidEntries } = whole(
      decodeOpenPositions as Decode,
      '[{"ai":"a1","tsc":1,"tpsl":[{"i":"t1"},{"q":1},7]}]',
    );
    expect(items).toMatchObject([{ assetId: 'a1', tpslOrders: [{ tpslId: 't1' }] }]);
    expect(invalidEntries.map(({ index, path, reason }) => `${index} ${path}: ${reason}`)).toEqual([
      '0 [0].tpsl[1].i: expected a string, got nothing',
      '0 [0].tpsl[2]: expected an object, got number 7',
    ]);
  });

  it('are rejected as a whole without a list or a record, in one line', () => {
    expect(decodeTrades(parseLossless('7'))).toMatchObject({
      ok: false,
      path: 'i',
      reason: 'expected a list, got nothing',
    });
    expect(decodeTrades(parseLossless('{"i":3}'))).toMatchObject({
      path: 'i',
      reason: 'expected a list, got number 3',
    });
    expect(decodeProfileStats(parseLossless('[]'))).toMatchObject({
      path: '',
      reason: 'expected an object, got an array',
    });
    expect(decodeProfileStats(parseLossless('{"profile":{"userId":7}}'))).toMatchObject({
      path: 'profile.userId',
      reason: 'expected a string, got number 7',
    });
  });

  it('read balances from the list of the stream as well [2/balance]', () => {
    expect(whole(decodeBalances as Decode, '{"l":[{"i":"usdc","b":1,"f":1}]}').items).toMatchObject([
      { assetId: 'usdc' },
    ]);
  });
});

const balance = { assetId: 'usdc', balance: '5.5', free: '1', name: null, ticker: null, value: null };

describe('messages of the private streams', () => {
  it.each([
    ['{"t":"success","d":"authorized","r":null}', { type: 'authorized' }],
    [
      '{"t":"ORDER_UPDATE","d":{"i":"o1","u":"u1","s":"SUCCESS"}}',
      { type: 'order-update', orderId: 'o1', userId: 'u1', status: 'SUCCESS' },
    ],
    [
      '{"t":"ORDER_UPDATE","d":{"i":"o1"},"r":null}',
      { type: 'order-update', orderId: 'o1', userId: null, status: null },
    ],
    [
      '{"t":"TPSL_UPDATE","d":{"i":"t1","u":"u1","a":"a1","q":0.30,"tpp":0.9,"slp":null,"s":"ACTIVE"}}',
      {
        type: 'tpsl-update',
        tpslId: 't1',
        userId: 'u1',
        assetId: 'a1',
        quantity: '0.3',
        takeProfitPrice: '0.9',
        stopLossPrice: null,
        status: 'ACTIVE',
      },
    ],
    ['{"t":"PING","d":null,"r":null}', { type: 'ping' }],
    ['{"t":"error","d":{"error":"bad signature"}}', { type: 'error', reason: 'bad signature' }],
    ['{"t":"ERROR","r":"no"}', { type: 'error', reason: 'no' }],
    ['{"r":"no"}', { type: 'error', reason: 'no' }],
    ['{"t":"error"}', { type: 'error', reason: '' }],
    ['{"t":"NEWS","d":{}}', { type: 'unknown', wireType: 'NEWS' }],
    [
      '{"t":"ORDER_UPDATE","d":{"i":5}}',
      { type: 'invalid', ok: false, path: 'd.i', reason: 'expected a string, got number 5' },
    ],
    [
      '{"t":"TPSL_UPDATE","d":[]}',
      { type: 'invalid', ok: false, path: 'd', reason: 'expected an object, got an array' },
    ],
    ['{"d":{}}', { type: 'invalid', ok: false, path: 't', reason: 'expected a string, got nothing' }],
    ['{"t":4}', { type: 'invalid', ok: false, path: 't', reason: 'expected a string, got number 4' }],
    ['4', { type: 'invalid', ok: false, path: '', reason: 'expected an object, got number 4' }],
  ])('of orders: %s', (text, message) => {
    expect(decodeOrderStreamMessage(parseLossless(text))).toEqual(message);
  });

  it.each([
    [
      '{"t":"success","d":{"l":[{"i":"usdc","b":5.50,"f":1}]},"r":null}',
      { type: 'balances', balances: [balance], invalidEntries: [], invalidEntriesOmitted: 0 },
    ],
    ['{"t":"success","d":"authorized"}', { type: 'authorized' }],
    [
      '{"u":"u1","a":"a1","aop":0.125,"c":1.250000,"b":10,"f":10.0}',
      {
        type: 'balance-update',
        userId: 'u1',
        assetId: 'a1',
        averageOpenPrice: '0.125',
        cost: '1.25',
        balance: '10',
        free: '10',
      },
    ],
    [
      '{"t":"SOME_NAME","d":{"a":"a1","b":10}}',
      {
        type: 'balance-update',
        userId: null,
        assetId: 'a1',
        averageOpenPrice: null,
        cost: null,
        balance: '10',
        free: null,
      },
    ],
    ['{"t":"SOME_NAME","d":{"a":"a1"}}', { type: 'unknown', wireType: 'SOME_NAME' }],
    ['{"t":"PING"}', { type: 'ping' }],
    ['{"t":"error","d":{"error":"expired"}}', { type: 'error', reason: 'expired' }],
    ['{"u":"u1"}', { type: 'invalid', ok: false, path: 'a', reason: 'expected a string, got nothing' }],
    [
      '{"a":"a1","b":"much"}',
      { type: 'invalid', ok: false, path: 'b', reason: 'expected a number, got string "much"' },
    ],
    [
      '{"t":"success","d":{"l":7}}',
      { type: 'invalid', ok: false, path: 'd.l', reason: 'expected an array, got number 7' },
    ],
  ])('of balances: %s', (text, message) => {
    expect(decodeBalanceStreamMessage(parseLossless(text))).toEqual(message);
  });

  it('decode the valid balances of a list with an invalid one', () => {
    const message = decodeBalanceStreamMessage(
      parseLossless('{"t":"success","d":{"l":[{"i":"usdc","b":5.5,"f":1},{"i":"x"}]}}'),
    );
    expect(message).toMatchObject({ balances: [balance], invalidEntries: [{ index: 1, path: 'd.l[1].b' }] });
  });
});

describe('responses that contain secrets', () => {
  it('are decoded without exposing the secret', () => {
    const created = decodeCreatedApiKey({ id: 'k1', key: 'pk_1', secret: 'S3CRET', createdAt: AT, expiresAt: null });
    if (!created.ok) throw new Error(created.reason);
    expect(created).toMatchObject({ keyId: 'k1', key: 'pk_1', createdAtMicros: AT_MICROS, expiresAtMicros: null });
    expect(created.secret.reveal()).toBe('S3CRET');
    expect(JSON.stringify(created)).not.toContain('S3CRET');
    expect(decodeApiKeyInfo({ key: 'pk_1', secret: 'S3CRET' })).toEqual({
      ok: true,
      keyId: null,
      key: 'pk_1',
      createdAtMicros: null,
      expiresAtMicros: null,
    });
  });

  it.each([
    [{ token: 'T', expiresAt: AT }, AT_MICROS],
    [{ accessToken: 'T' }, null],
    [{ access_token: 'T', expiresAt: 'x' }, null],
    [{ jwt: 'T' }, null],
    ['T', null],
  ])('finds the token in %j', (body, expiresAtMicros) => {
    const login = decodeLogin(body);
    if (!login.ok) throw new Error(login.reason);
    expect([login.token.reveal(), login.expiresAtMicros]).toEqual(['T', expiresAtMicros]);
  });

  it('never quote the received value in an error', () => {
    const marked = fc
      .jsonValue({ maxDepth: 3 })
      .map(
        (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === 'string' ? `S3CRET${v}` : v))) as unknown,
      );
    const fields = fc.record({ token: marked, key: marked, secret: marked, id: marked }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(marked, fields), (body) => {
        for (const decode of [decodeLogin, decodeApiKeyInfo, decodeCreatedApiKey]) {
          const decoded = decode(body);
          if (!decoded.ok) expect(JSON.stringify(decoded)).not.toContain('S3CRET');
        }
      }),
    );
  });
});

describe('any payload', () => {
  const decoders: [string, (body: LosslessJson) => unknown][] = [
    ...[...RECORDS, ...SINGLE].map(([name, decode]): [string, (body: LosslessJson) => unknown] => [name, decode]),
    ['a message of the order stream', decodeOrderStreamMessage],
    ['a message of the balance stream', decodeBalanceStreamMessage],
  ];
  const names = [
    'i',
    'q',
    'p',
    'ai',
    'tsc',
    'id',
    'quantity',
    'am',
    'tra',
    'pr',
    'b',
    'a',
    't',
    'd',
    'l',
    'r',
    'm',
    'tpsl',
  ];
  const key = fc.oneof(fc.constantFrom(...names, 'content', '__proto__', 'tp'), fc.string());
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: 'medium' },
      fc.constantFrom('0.5', '-1', '1e400', '1E-400', '"x"', '""', '"0.5"', 'null', 'true', `"${AT}"`),
      fc.string().map((text) => JSON.stringify(text)),
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
      fc
        .array(fc.tuple(key, tie('value')), { maxLength: 8 })
        .map((fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${String(value)}`).join(',')}}`),
    ),
  })).value as fc.Arbitrary<string>;

  it.each(decoders)(
    '%s never throws, and every entry is an item or invalid with a reason [2/statuses]',
    (_, decode) => {
      fc.assert(
        fc.property(json, (text) => {
          const decoded = decode(parseLossless(text)) as {
            ok?: boolean;
            type?: string;
            items?: unknown[];
            invalidEntries?: { reason: string }[];
            reason?: string;
          };
          if (decoded.ok === false) expect(decoded.reason).not.toBe('');
          for (const entry of decoded.invalidEntries ?? []) expect(entry.reason).not.toBe('');
          expect(decoded.ok !== undefined || decoded.type !== undefined).toBe(true);
        }),
        { numRuns: 300 },
      );
    },
  );
});
