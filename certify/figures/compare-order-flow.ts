import { compareQuotes } from '../compare/quotes.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import { type FillSide, sidesOf } from '../fills.js';
import { compareImpact } from './compare-impact.js';
import type { FiguresInput } from './input.js';
import { type Figures, QUOTE_MARGIN_MS } from './questions.js';
import { LATER, quoteAt } from './quotes.js';
import { compareFigureRows, figure, keyedRows, NULL, sameFigure, sharesText, usdc } from './texts.js';

/** Times after a trade at which its markout is taken, microseconds. */
const MARKOUTS = [5_000_000, 60_000_000, 300_000_000];
/** What every trade cost beyond the mid, and what it gained or lost afterwards. */
export function compareOrderFlow(input: FiguresInput): Comparison[] {
  const { ledger, shown, faults, figures } = input;
  const quotes = compareQuotes({ prices: ledger.prices, shown, faults, quotes: quotesOf(figures) });
  return [quotes, compareSpreads(input), compareSlippage(input), compareImpact(input)];
}

/** The quotes that were observed and had both sides. */
const quotesOf = (figures: Figures) =>
  figures['spreads and markouts'].flatMap(({ key: [market = '', at], value: [mid = NULL] }) =>
    mid === NULL ? [] : [{ market, moment: (Number(at) - QUOTE_MARGIN_MS) * 1000, mid: Number(mid) }],
  );

function compareSpreads(input: FiguresInput): Comparison {
  const { ledger, figures, closedAt, unlisted } = input;
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const expected = ledger.fills.map((fill): KeyedRow => {
    const { outcome, side, cents } = sidesOf(fill, yesAssets).taker;
    const at = Math.floor(fill.at / 1000) * 1000;
    const direction = (outcome === 'YES') === (side === 'BUY') ? 1 : -1;
    const yesCents = outcome === 'YES' ? cents : 100 - cents;
    const price = yesCents / 100;
    const { mid, receivedAt } = quoteAt(input, fill.eventId, fill.marketId, at - QUOTE_MARGIN_MS * 1000);
    const markouts = MARKOUTS.map((after) => {
      const later = quoteAt(input, fill.eventId, fill.marketId, at + after).mid;
      return at + after > closedAt ? LATER : figure(later === null ? null : direction * (later - price));
    });
    return [
      `${fill.marketId} ${at / 1000} ${direction} ${quantityText(fill.quantity)} ${price}`,
      [
        ...[figure(mid), figure(receivedAt === null ? null : (at - receivedAt) / 1e6)],
        figure(mid === null ? null : 2 * Math.abs(price - mid)),
        figure(mid === null ? null : direction * (price - mid)),
        ...markouts,
      ].join(' '),
    ];
  });
  const found = figures['spreads and markouts'].map(({ key, value }): KeyedRow => {
    const at = Number(key[1]) * 1000;
    const texts = value.map((text, i) => {
      const after = MARKOUTS[i - (value.length - MARKOUTS.length)];
      return after !== undefined && at + after > closedAt ? LATER : sameFigure(text);
    });
    return [key.join(' '), texts.join(' ')];
  });
  const isListed = ([key]: KeyedRow) => !unlisted.markets.has(key.split(' ')[0] ?? '');
  return compareFigureRows('spreads and markouts', expected.filter(isListed), found.filter(isListed));
}

function compareSlippage(input: FiguresInput): Comparison {
  const { ledger, accounts, figures, unlisted } = input;
  const markets = new Map(ledger.markets.map((market) => [market.marketId, market]));
  const yesAssets = new Set(ledger.markets.map(({ assets }) => assets.yes));
  const expected = ledger.fills.flatMap((fill) => {
    const { taker, maker } = sidesOf(fill, yesAssets);
    const at = Math.floor(fill.at / 1000);
    const quote = quoteAt(input, fill.eventId, fill.marketId, (at - QUOTE_MARGIN_MS) * 1000);
    const row = ({ userId, outcome, side, cents }: FillSide, fee: number): KeyedRow[] => {
      const [account, market] = [accounts.names.get(userId), markets.get(fill.marketId)];
      if (account === undefined || market === undefined || unlisted.markets.has(fill.marketId)) return [];
      const asset = outcome === 'YES' ? market.assets.yes : market.assets.no;
      const mid = quote.mid === null || outcome === 'YES' ? quote.mid : 1 - quote.mid;
      const slippage = mid === null ? null : (side === 'BUY' ? 1 : -1) * (cents / 100 - mid);
      return [
        [
          `${account} ${asset} ${at} ${side} ${quantityText(fill.quantity)} ${cents / 100}`,
          [
            ...[outcome, usdc(BigInt(Math.round(fee * 1e6))), figure(mid)],
            figure(quote.receivedAt === null ? null : (at * 1000 - quote.receivedAt) / 1e6),
            ...[figure(slippage), figure(slippage === null ? null : fill.quantity * slippage)],
          ].join(' '),
        ],
      ];
    };
    return [...row(taker, fill.takerFee), ...row(maker, 0)];
  });
  const how = { 2: sameFigure, 3: sameFigure, 4: sameFigure, 5: sameFigure };
  const isListed = ([key]: KeyedRow) => !unlisted.assets.has(key.split(' ')[1] ?? NULL);
  return compareFigureRows(
    'slippage of own fills',
    expected,
    keyedRows(figures['slippage of own fills'], how).filter(isListed),
  );
}

const quantityText = (quantity: number): string => sharesText(BigInt(Math.round(quantity * 100)));
