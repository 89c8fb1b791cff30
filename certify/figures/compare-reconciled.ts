import { groupBy } from '../../core/index.js';
import { MICROS, unitsOf } from '../amounts.js';
import type { Comparison, KeyedRow } from '../comparison.js';
import type { FiguresInput } from './input.js';
import type { Profit } from './profits.js';
import { compareFigureRows, figure, keyedRows, sameFigure, sharesText, usdc } from './texts.js';

/** Fields whose quotient the exchange rounds to a millionth. */
const QUOTIENTS = ['sp', 'pp'];
/** Shares that orders lock are not in the ledger: the state says whether two polls agree. */
const FREE = 'asc';
const OTHER_POLL = 'other poll';
/** Fields that depend on the price, and the states in which the last tick before the poll has not the price of the poll. */
const OF_PRICE = ['cp', 'v', 'pv', 'pp'];
const OTHER_PRICE = ['other price', 'unknown'];
const EQUAL = 'equal';

/**
 * Balances, and every field of every position, as they follow from recorded trades: as in the ledger, and equal to those that the
 * exchange lists.
 * @param profits of the assets of listed markets, at the chance
 */
export function compareReconciled(input: FiguresInput, profits: readonly Profit[]): Comparison[] {
  const held = profits.filter(({ shares }) => shares !== 0n);
  return [compareBalances(input, held), comparePositionFields(input, held)];
}

function compareBalances({ ledger, accounts, figures, unlisted }: FiguresInput, held: readonly Profit[]): Comparison {
  const coins = ledger.accounts.flatMap(({ userId, usdc: amount }): KeyedRow[] => {
    const account = accounts.names.get(userId);
    if (account === undefined || !accounts.withTransactions.has(account)) return [];
    return [[`${account} USDC`, `${usdc(unitsOf(amount, MICROS))} 0 ${EQUAL}`]];
  });
  const shares = held.map((one): KeyedRow => [`${one.account} ${one.asset}`, `${sharesText(one.shares)} 0 ${EQUAL}`]);
  const isCompared = ([key, text]: KeyedRow): boolean => {
    const [account = '', asset = ''] = key.split(' ');
    if (asset === 'USDC') return accounts.withTransactions.has(account);
    return text !== `0 0 ${EQUAL}` && !unlisted.assets.has(asset);
  };
  return compareFigureRows(
    'reconciled balances',
    [...coins, ...shares],
    keyedRows(figures['reconciled balances']).filter(isCompared),
  );
}

function comparePositionFields({ figures, unlisted }: FiguresInput, held: readonly Profit[]): Comparison {
  const expected = held.flatMap(({ account, asset, shares, cost, price, value }): KeyedRow[] => {
    const gained = value === null ? null : value - cost;
    const fields: Readonly<Record<string, string>> = {
      ...{ tsc: sharesText(shares), [FREE]: '', c: usdc(cost), cp: usdc(price), v: usdc(value), pv: usdc(gained) },
      sp: figure(Number(cost) / 1e4 / Number(shares)),
      pp: figure(gained === null ? null : cost === 0n ? 0 : (100 * Number(gained)) / Number(cost)),
    };
    return Object.entries(fields).map(([code, ours]) => [`${account} ${asset} ${code}`, `${ours} ${EQUAL}`]);
  });
  const found: KeyedRow[] = [];
  const elsewhen = new Map<string, string>();
  for (const { key, value } of figures['fields of positions']) {
    const [ours = '', state = ''] = value;
    const [, asset = '', code = ''] = key;
    if (unlisted.assets.has(asset)) continue;
    if (code === FREE ? state === OTHER_POLL : OF_PRICE.includes(code) && OTHER_PRICE.includes(state)) {
      elsewhen.set(key.join(' '), state);
    } else if (code === FREE) found.push([key.join(' '), ` ${state}`]);
    else found.push([key.join(' '), `${QUOTIENTS.includes(code) ? sameFigure(ours) : ours} ${state}`]);
  }
  const compared = compareFigureRows(
    'fields of positions',
    expected.filter(([key]) => !elsewhen.has(key)),
    found,
  );
  const states = groupBy([...elsewhen.values()], (state) => state);
  return {
    ...compared,
    expected: expected.length,
    explained: [...states].map(([state, { length }]) => ({ by: `of another moment: ${state}`, count: length })),
  };
}
