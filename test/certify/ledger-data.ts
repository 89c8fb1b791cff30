import type { RecordedAccounts, RecordedStreams, TextRow, Tick } from '../../certify/recorded.js';
import type { Ledger, LedgerFill, LedgerPrice } from '../../certify/truth.js';

export const SECOND = 1_000_000;
/** A whole second, Unix microseconds. */
export const START = 1_800_000_000 * SECOND;
/** Time from a change to its receipt. */
const TRANSIT = 2000;

const MARKETS = ['m0', 'm1'];

/** Twenty seconds in which each market changes ten times per second, its last price every 300 ms. */
export function prices(): LedgerPrice[] {
  return Array.from({ length: 200 }, (_, n) =>
    MARKETS.map((marketId, m) => ({
      seq: 2 * n + m + 1,
      eventId: 'e',
      marketId,
      c: (Math.floor(n / 3) % 90) / 100 + 0.05,
      b: n % 4 === 0 ? 0 : 0.01 + (n % 7) / 100,
      a: n % 5 === 0 ? 1 : 0.99,
      at: START + n * 100_000 + m * 10,
    })),
  ).flat();
}

export const tickOf = ({ eventId, marketId, c, b, a, at }: LedgerPrice): Tick => ({
  event: eventId,
  market: marketId,
  source: 'delta',
  repeated: false,
  last: c,
  bid: b === 0 ? null : b,
  ask: a === 1 ? null : a,
  receivedAt: Math.floor((at + TRANSIT) / 1000) * 1000,
});

/** Everything that the streams sent of these changes. */
export function streamsOf(changes: readonly LedgerPrice[]): RecordedStreams {
  const moves = changes.filter(
    ({ marketId, c }, i) => changes.slice(0, i).findLast((before) => before.marketId === marketId)?.c !== c,
  );
  const secondOf = (at: number) => Math.floor(at / SECOND);
  const seconds = new Map(
    moves.map(({ marketId, c, at }) => [
      `${marketId} ${secondOf(at)}`,
      { market: marketId, second: secondOf(at), chance: c },
    ]),
  );
  return {
    ticks: changes.map(tickOf),
    livePoints: moves.map(({ eventId, marketId, c, at }) => ({
      event: eventId,
      market: marketId,
      second: secondOf(at),
      chance: c,
      receivedAt: at + TRANSIT,
    })),
    seconds: [...seconds.values()],
    gaps: [],
    observed: [],
    audits: [],
    loss: { audits: 0, samples: 0, missed: 0 },
    deadLetters: new Map(),
  };
}

const fill = (seq: number, values: Partial<LedgerFill>): LedgerFill => ({
  seq,
  tradeId: `t${seq}`,
  eventId: 'e',
  marketId: 'm0',
  assetId: 'm0-yes',
  price: 0.4,
  quantity: 10,
  takerFee: 0.008,
  taker: 'buyer',
  buyer: 'u1',
  seller: 'u2',
  kind: 'mint',
  at: START + seq * 1500,
  ...values,
});

/**
 * Two accounts. m0: u1 buys 10 YES at 0.40 and u2 10 NO at 0.60 (minted), then u1 sells 4 YES to u2 at 0.50. m1, which YES
 * won: u2 buys 5 NO at 0.70 as taker, u1 5 YES at 0.30.
 */
export const LEDGER: Ledger = {
  accounts: [
    {
      userId: 'u1',
      // 100 - 4 - 0.008 + 2 - 1.5 + 5
      usdc: 101.492,
      locked: 1.5,
      positions: [{ assetId: 'm0-yes', shares: 6, cost: 2.4 }],
      realisedPnl: 3.9,
      feesPaid: 0.008,
    },
    {
      userId: 'u2',
      // 100 - 6 - 2 - 0.004 - 3.5 - 0.007
      usdc: 88.489,
      locked: 0,
      positions: [
        { assetId: 'm0-no', shares: 10, cost: 6 },
        { assetId: 'm0-yes', shares: 4, cost: 2 },
      ],
      realisedPnl: -3.5,
      feesPaid: 0.011,
    },
  ],
  markets: [
    {
      marketId: 'm0',
      eventId: 'e',
      assets: { yes: 'm0-yes', no: 'm0-no' },
      openingChance: 0.45,
      resolved: null,
    },
    { marketId: 'm1', eventId: 'e', assets: { yes: 'm1-yes', no: 'm1-no' }, openingChance: 0.3, resolved: 'YES' },
  ],
  identity: { deposits: 200, withdrawals: 0, free: 188.481, locked: 1.5, backing: 10, fees: 0.019 },
  fills: [
    fill(1, {}),
    fill(2, {
      kind: 'transfer',
      price: 0.5,
      quantity: 4,
      takerFee: 0.004,
      buyer: 'u2',
      seller: 'u1',
    }),
    fill(3, { marketId: 'm1', assetId: 'm1-yes', price: 0.3, quantity: 5, takerFee: 0.007, taker: 'seller' }),
  ],
  prices: [{ seq: 1, eventId: 'e', marketId: 'm0', c: 0.5, b: 0, a: 1, at: START }],
};

const row = (key: string, value = ''): TextRow => ({
  key: key.split(' '),
  value: value === '' ? [] : value.split(' '),
});
const at = (seq: number): number => Math.floor((START + seq * 1500) / 1000) * 1000;

/** What is recorded of `LEDGER`. */
export const RECORDED: RecordedAccounts = {
  names: new Map([
    ['u1', 'ann'],
    ['u2', 'bob'],
  ]),
  trades: [
    row('ann t1 m0-yes', `BUY 10 0.4 0.008 ${at(1)}`),
    row('ann t2 m0-yes', `SELL 4 0.5 0 ${at(2)}`),
    row('ann t3 m1-yes', `BUY 5 0.3 0 ${at(3)}`),
    row('bob t1 m0-no', `BUY 10 0.6 0 ${at(1)}`),
    row('bob t2 m0-yes', `BUY 4 0.5 0.004 ${at(2)}`),
    row('bob t3 m1-no', `BUY 5 0.7 0.007 ${at(3)}`),
  ],
  activity: [
    row(`u1 m0 YES BUY 10 0.4 ${at(1)}`),
    row(`u2 m0 YES BUY 4 0.5 ${at(2)}`),
    row(`u2 m1 NO BUY 5 0.7 ${at(3)}`),
  ],
  volumes: {
    market: ['all', 'own'].flatMap((scope) => [row(`${scope} m0`, '2 14 6'), row(`${scope} m1`, '1 5 3.5')]),
    event: ['all', 'own'].map((scope) => row(`${scope} e`, '3 19 9.5')),
    day: ['all', 'own'].map((scope) => row(`${scope} 2027-01-15`, '3 19 9.5')),
    minute: ['all', 'own'].flatMap((scope) => [
      row(`${scope} 1800000000 m0 YES BUY`, '2 14 6'),
      row(`${scope} 1800000000 m1 NO BUY`, '1 5 3.5'),
    ]),
  },
  vwaps: ['all', 'own'].flatMap((scope) => [
    { scope, market: 'm0', vwap: 6 / 14 },
    { scope, market: 'm1', vwap: 0.3 },
  ]),
  balances: [
    row('ann USDC', '101.492 99.992'),
    row('ann m0-yes', '6 6'),
    row('bob USDC', '88.489 88.489'),
    row('bob m0-no', '10 9'),
    row('bob m0-yes', '4 4'),
    row('bob m1-no', '0 0'),
  ],
  positions: [row('ann m0-yes', '6 2.4'), row('bob m0-no', '10 6'), row('bob m0-yes', '4 2')],
  pnlByAsset: [row('ann m0-yes', '6 2.4 2.4'), row('bob m0-no', '10 6 6'), row('bob m0-yes', '4 2 2')],
  pnlByAccount: [row('ann', '3.9 0.008 2.4 0.6 0'), row('bob', '-3.5 0.011 8 -1 0')],
  settlements: [row('ann m1-yes', '5'), row('bob m1-no', '0')],
  resolutions: [row('m0', 'unresolved'), row('m1', 'yes')],
  withTransactions: new Set(['ann', 'bob']),
  listedMarkets: new Set(['m0', 'm1']),
  deposited: '200',
  usdc: '189.981',
};
