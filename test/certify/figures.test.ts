import { describe, expect, it } from 'vitest';
import { BookPrices, Observed } from '../../certify/figures/book-prices.js';
import { compareChanceCandles } from '../../certify/figures/compare-chances.js';
import { compareChanges } from '../../certify/figures/compare-changes.js';
import type { FiguresInput } from '../../certify/figures/input.js';
import { resolutionTimes } from '../../certify/figures/profits.js';
import { compareFigureRows, figure, sameFigure } from '../../certify/figures/texts.js';
import type { TextRow } from '../../certify/recorded.js';
import { prices, SECOND, START } from './ledger-data.js';

const changes = prices().filter(({ seq, c }, i, all) => i < 2 || c !== all[i - 2]?.c || seq < 3);
const row = (market: string, begins: number, value: string): TextRow => ({
  key: [market, String(START / SECOND + begins)],
  value: value.split(' '),
});
/** The price changes every 300 ms by a cent: 34 times in the first ten seconds, 33 times in the next ones. */
const ROWS = ['m0', 'm1'].flatMap((market) => [
  row(market, 0, '0.05 0.38 0.05 0.38 34'),
  row(market, 10, '0.39 0.71 0.39 0.71 33'),
]);

const compared = (rows: readonly TextRow[], change: Partial<FiguresInput> = {}) =>
  compareChanceCandles({
    figures: { 'chance candles': rows },
    chances: { changes, missed: [] },
    gaps: [],
    faults: [],
    recordedFrom: START,
    closedAt: START + 30 * SECOND,
    events: new Map([
      ['m0', 'e'],
      ['m1', 'e'],
    ]),
    openingChances: new Map(),
    ...change,
  } as unknown as FiguresInput);

describe('the comparison of candles of the chance', () => {
  it('accepts those that follow from the ledger', () => {
    expect(compared(ROWS)).toMatchObject({ expected: 4, found: 4, unexplained: 0 });
  });

  it.each([0, 1, 2, 3, 4])('finds a wrong value in column %i of one row', (column) => {
    const wrong = ROWS.with(3, { key: ROWS[3]?.key ?? [], value: ROWS[3]?.value.with(column, '0.123') ?? [] });
    expect(compared(wrong)).toMatchObject({ expected: 4, found: 4, unexplained: 1 });
  });

  it('finds a missing row, and leaves out periods in which a change was missed', () => {
    expect(compared(ROWS.slice(1)).unexplained).toBe(1);
    const missed = changes.filter(({ marketId, at }) => marketId === 'm0' && at < START + SECOND);
    expect(compared(ROWS.slice(1), { chances: { changes, missed } })).toMatchObject({ expected: 3, unexplained: 0 });
  });

  it('knows the chance with which a market opened, which is no change', () => {
    const openingChances = new Map([['m0', 0.9]]);
    const opened = ROWS.with(0, row('m0', 0, '0.9 0.9 0.05 0.38 34'));
    expect(compared(opened, { openingChances }).unexplained).toBe(0);
    expect(compared(opened, { openingChances: new Map([['m0', 0.8]]) }).unexplained).toBe(1);
  });
});

describe('the comparison of times of arbitrage', () => {
  const at = (seconds: number) => START + seconds * SECOND;
  const shown = (seconds: number, b: number, a: number, c = 0.5) => ({ receivedAt: at(seconds), price: { c, b, a } });
  // The bids add up to 1.05 from 11 to 21 s; of the first half of it, the event was observed.
  const books = new Map([
    ['m0', [shown(1, 0.6, 0.7), shown(21, 0.3, 0.7)]],
    ['m1', [shown(2, 0.35, 0.5), shown(11, 0.45, 0.5), shown(25, 0.99, 1, 1)]],
  ]);
  const found: TextRow = {
    key: ['e', 'm0', 'm1', String(at(11))],
    value: [String(at(21)), '10', '0.05', '0.5', '0.5'],
  };
  const arbitrage = (rows: readonly TextRow[]) =>
    compareChanges({
      figures: { volatility: [], 'correlations of outcomes': [], 'times of arbitrage': rows },
      prices: new BookPrices(books),
      observed: new Observed([{ stream: 'order-book', event: 'e', begins: at(0), ends: at(16) }]),
      events: new Map([...books.keys()].map((market) => [market, 'e'])),
      times: { from: START / SECOND, to: START / SECOND + 30 },
    } as unknown as FiguresInput).find(({ name }) => name === 'times of arbitrage');

  it('accepts the one that follows from the books', () => {
    expect(arbitrage([found])).toMatchObject({ expected: 1, found: 1, unexplained: 0 });
  });

  it('finds a missing row, one that never was, and a wrong value in each column', () => {
    expect(arbitrage([])?.unexplained).toBe(1);
    const other = { key: ['e', 'm0', 'm1', String(at(22))], value: found.value };
    expect(arbitrage([found, other])?.unexplained).toBe(1);
    for (const column of found.value.keys()) {
      expect(arbitrage([{ ...found, value: found.value.with(column, '0.123') }])?.unexplained, String(column)).toBe(1);
    }
  });
});

it('a market is resolved when its price becomes 0 or 1', () => {
  const at = (c: number, seconds: number) => ({ seq: 1, eventId: 'e', marketId: 'm', c, b: 0, a: 1, at: seconds });
  expect([...resolutionTimes([at(0.5, 1), at(1, 2), at(1, 3)])]).toEqual([['m', 2]]);
});

it('quotients may differ in the last digits, amounts may not', () => {
  const unexplained = (found: string, wanted = `5 ${figure(0.2241015625)}`) =>
    compareFigureRows('figures', [['a', wanted]], [['a', found]]).unexplained;
  expect(unexplained(`5 ${sameFigure('0.224101562499')}`)).toBe(0);
  expect(unexplained(`5 ${sameFigure('0.2241015')}`)).toBe(1);
  expect(unexplained(`5 ${sameFigure('NULL')}`)).toBe(1);
  expect(unexplained(`5.000000000001 ${figure(0.2241015625)}`)).toBe(1);
});
