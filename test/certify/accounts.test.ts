import { describe, expect, it } from 'vitest';
import { compareAccounts } from '../../certify/compare/accounts.js';
import { compareResolutions } from '../../certify/compare/resolutions.js';
import { compareVolumes } from '../../certify/compare/volumes.js';
import { compareZeroSum } from '../../certify/compare/zero-sum.js';
import { fifoCosts } from '../../certify/fills.js';
import type { RecordedAccounts, TextRow } from '../../certify/recorded.js';
import { LEDGER, RECORDED } from './ledger-data.js';

const compared = (change: Partial<RecordedAccounts>) => {
  const recorded = { ...RECORDED, ...change };
  return [
    ...compareAccounts({ ledger: LEDGER, recorded }),
    ...compareVolumes(LEDGER, recorded),
    compareZeroSum(LEDGER, recorded),
    compareResolutions(LEDGER, recorded),
  ];
};

/** The comparisons that fail after a change of what is recorded, with their first example. */
const failures = (change: Partial<RecordedAccounts>) =>
  Object.fromEntries(
    compared(change)
      .filter(({ unexplained }) => unexplained > 0)
      .map(({ name, examples }) => [name, examples[0]]),
  );

/** A value of one row replaced. */
const replaced = (rows: readonly TextRow[], index: number, value: string): TextRow[] =>
  rows.with(index, { key: rows[index]?.key ?? [], value: value.split(' ') });

describe('the comparison of accounts with the ledger', () => {
  it('accepts what is as in the ledger, and counts it', () => {
    expect(failures({})).toEqual({});
    expect(compared({}).map(({ name, expected, found }) => [name, expected, found])).toEqual([
      ['trades of accounts', 6, 6],
      ['balances', 5, 5],
      ['positions', 3, 3],
      ['cost of holdings', 3, 3],
      ['profit and loss', 2, 2],
      ['settlements', 2, 2],
      ['fills of all users', 3, 3],
      ['volume by market', 4, 4],
      ['volume by event', 2, 2],
      ['volume by day', 2, 2],
      ['volume by minute, outcome and side', 4, 4],
      ['VWAP', 4, 4],
      ['zero-sum over all accounts', 5, 5],
      ['resolutions', 2, 2],
    ]);
  });

  it('computes the FIFO cost of what is held: the oldest shares are sold first', () => {
    const [first] = LEDGER.fills;
    if (!first) throw new Error('there are no fills');
    const fills = [
      { ...first, seq: 1, price: 0.4, quantity: 10 },
      { ...first, seq: 2, price: 0.6, quantity: 10 },
      { ...first, seq: 3, kind: 'transfer' as const, price: 0.9, quantity: 12, buyer: 'u3', seller: 'u1' },
    ];
    // u1: 8 of the second lot at 0.60; u2: 10 NO at 0.60 and 10 at 0.40; u3: 12 at 0.90.
    expect(Object.fromEntries(fifoCosts(fills, new Set(['m0-yes'])))).toEqual({
      'u1 m0 YES': 4_800_000n,
      'u2 m0 NO': 10_000_000n,
      'u3 m0 YES': 10_800_000n,
    });
  });

  it('finds a wrong FIFO cost, a volume of another minute, and a market resolved otherwise', () => {
    expect(failures({ pnlByAsset: replaced(RECORDED.pnlByAsset, 0, '6 2.4 2.400001') })).toEqual({
      'cost of holdings': 'ann m0-yes: expected 6 2.4 2.4, found 6 2.4 2.400001',
    });
    const minute = replaced(RECORDED.volumes.minute, 0, '1 10 4');
    expect(failures({ volumes: { ...RECORDED.volumes, minute } })).toEqual({
      'volume by minute, outcome and side': 'all 1800000000 m0 YES BUY: expected 2 14 6, found 1 10 4',
    });
    expect(failures({ resolutions: replaced(RECORDED.resolutions, 1, 'no') })).toEqual({
      resolutions: 'm1: expected yes, found no',
    });
  });

  it('finds a lost trade, a duplicate one, and a wrong fee', () => {
    const { trades } = RECORDED;
    const [first] = trades;
    if (!first) throw new Error('there are no trades');
    expect(failures({ trades: trades.slice(1) })['trades of accounts']).toMatch(/^ann t1 m0-yes: missing/);
    expect(failures({ trades: [first, ...trades] })['trades of accounts']).toMatch(/^ann t1 m0-yes: surplus BUY 10/);
    const wrongFee = first.value.join(' ').replace('0.008', '0.009');
    expect(failures({ trades: replaced(trades, 0, wrongFee) })).toEqual({
      'trades of accounts': expect.stringMatching(/expected BUY 10 0.4 0.008 \d+, found BUY 10 0.4 0.009 \d+$/),
    });
  });

  it('finds two trades of an account in another order', () => {
    const [first, second, ...others] = RECORDED.trades;
    if (!first || !second) throw new Error('there are no trades');
    expect(failures({ trades: [second, first, ...others] })).toEqual({
      'trades of accounts': 'trade 1 of ann: expected ann t1 m0-yes, found ann t2 m0-yes',
    });
  });

  it('finds a lost fill of the feed, and a volume and an average price that are wrong in the last digit', () => {
    expect(Object.keys(failures({ activity: RECORDED.activity.slice(1) }))).toEqual(['fills of all users']);
    const market = replaced(RECORDED.volumes.market, 0, '2 14 6.0001');
    expect(failures({ volumes: { ...RECORDED.volumes, market } })).toEqual({
      'volume by market': 'all m0: expected 2 14 6, found 2 14 6.0001',
    });
    const vwaps = RECORDED.vwaps.map((one) => (one.market === 'm1' ? { ...one, vwap: (one.vwap ?? 0) + 1e-9 } : one));
    expect(Object.keys(failures({ vwaps }))).toEqual(['VWAP']);
  });

  it('finds wrong balances, positions, profits and payouts', () => {
    expect(failures({ balances: replaced(RECORDED.balances, 0, '101.492001 99.992') })).toEqual({
      balances: 'ann USDC: expected 101.492 99.992, found 101.492001 99.992',
    });
    expect(failures({ positions: replaced(RECORDED.positions, 0, '6 2.400001') })).toEqual({
      positions: 'ann m0-yes: expected 6 2.4, found 6 2.400001',
    });
    expect(Object.keys(failures({ pnlByAsset: RECORDED.pnlByAsset.slice(1) }))).toEqual(['cost of holdings']);
    expect(failures({ pnlByAccount: replaced(RECORDED.pnlByAccount, 0, '3.9 0.008 2.4 0.600001 0') })).toEqual({
      'profit and loss': 'ann: expected 3.9 0.008 2.4 0.6 0, found 3.9 0.008 2.4 0.600001 0',
    });
    expect(failures({ settlements: replaced(RECORDED.settlements, 0, '4') })).toEqual({
      settlements: 'ann m1-yes: expected 5, found 4',
    });
  });

  it('finds money that comes from nowhere, if every account is recorded', () => {
    expect(failures({ pnlByAccount: replaced(RECORDED.pnlByAccount, 1, '-3.4 0.011 8 -1 0') })).toMatchObject({
      'zero-sum over all accounts': 'cost of all holdings less all realised profits: expected 10, found 9.9',
    });
    const [, without] = [...RECORDED.names];
    const zeroSum = compareZeroSum(LEDGER, { ...RECORDED, names: new Map([without ?? ['', '']]) });
    expect(zeroSum).toMatchObject({ notCompared: '1 of 2 accounts are not recorded', unexplained: 0 });
  });

  describe('with an event that closed before recording began', () => {
    // Event search never listed m1, and the transactions of bob, who needs them to know what m1 paid, are not recorded.
    const row = (key: string, value: string): TextRow => ({ key: key.split(' '), value: value.split(' ') });
    const recorded: Partial<RecordedAccounts> = {
      withTransactions: new Set(['ann']),
      volumes: {
        ...RECORDED.volumes,
        event: [row('all e', '2 14 6'), { key: ['all', ''], value: ['1', '5', '3.5'] }, row('own e', '3 19 9.5')],
        // Of a trade of an asset that is in no market, neither the market nor the outcome is known.
        minute: RECORDED.volumes.minute.map((one) =>
          one.key[0] === 'own' && one.key[2] === 'm1' ? { ...one, key: ['own', '1800000000', 'm1', '', 'BUY'] } : one,
        ),
      },
      vwaps: RECORDED.vwaps.map((one) => (one.scope === 'own' && one.market === 'm1' ? { ...one, vwap: null } : one)),
      resolutions: replaced(RECORDED.resolutions, 1, 'unresolved'),
      pnlByAsset: [...RECORDED.pnlByAsset, row('bob m1-no', '5 3.5 3.5')],
      pnlByAccount: replaced(RECORDED.pnlByAccount, 1, '0 0.011 11.5 NULL 0'),
      settlements: RECORDED.settlements.slice(0, 1),
    };
    const affected = [
      'VWAP',
      'cost of holdings',
      'profit and loss',
      'resolutions',
      'settlements',
      'volume by event',
      'volume by minute, outcome and side',
    ];

    it('does not compare what cannot be known of it, and says so', () => {
      const unlisted = { ...recorded, listedMarkets: new Set(['m0']) };
      expect(failures(unlisted)).toEqual({});
      const partly = compared(unlisted).flatMap(({ name, expected, found, notCompared }) =>
        notCompared === undefined ? [] : [`${name}: ${expected} and ${found}, without ${notCompared.slice(0, 15)}`],
      );
      expect(partly.sort()).toEqual([
        'VWAP: 3 and 3, without 1 markets of ow',
        'cost of holdings: 3 and 3, without 1 rows: assets ',
        'profit and loss: 1 and 1, without 1 rows: account',
        'resolutions: 1 and 1, without 1 markets whose',
        'settlements: 1 and 1, without 1 rows: assets ',
        'volume by event: 1 and 1, without 2 rows: their e',
        'volume by minute, outcome and side: 3 and 3, without 2 rows: their e',
        'zero-sum over all accounts: 0 and 0, without the transaction',
      ]);
    });

    it('finds the same in an event that was listed', () => {
      expect(Object.keys(failures(recorded)).sort()).toEqual(affected);
    });

    it('still finds a lost fill of it', () => {
      const lost = { listedMarkets: new Set(['m0']), activity: RECORDED.activity.slice(0, 2) };
      expect(Object.keys(failures({ ...recorded, ...lost }))).toEqual(['fills of all users']);
    });
  });

  it('compares nothing without an account, and says so', () => {
    const recorded = { ...RECORDED, names: new Map<string, string>() };
    const all = [...compareAccounts({ ledger: LEDGER, recorded }), ...compareVolumes(LEDGER, recorded)];
    expect(all.map(({ notCompared }) => notCompared)).not.toContain(undefined);
    expect(all).toHaveLength(12);
  });
});
