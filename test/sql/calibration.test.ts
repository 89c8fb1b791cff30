import { beforeAll, describe, expect, it } from 'vitest';
import { useDatabase } from '../support/database.js';
import { polled, seen } from './account-data.js';
import { CalibrationSample, type Forecast } from './calibration-sample.js';
import { collectorEvent, eventSeen, tick, time, type Values, WarehouseData } from './warehouse-data.js';

const hand = useDatabase({ migrated: true });
const worked = useDatabase({ migrated: true });
const random = useDatabase({ migrated: true });

const HOUR = 3600;
const DAY = 24 * HOUR;

interface Scores {
  readonly weighting: string;
  readonly horizon: string;
  readonly basis: string;
  readonly [column: string]: unknown;
}

const NEEDED = 30;
const MISSING_ALLOWED = 0.2;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The rows of a list by a text of each. */
function grouped<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
}

const Z = 1.959963984540054;
const EVENTS_NEEDED = 10;

/** The variance of a weighted mean whose observations are independent between events only. */
function clusteredVariance(rows: readonly Forecast[], of: (row: Forecast) => number): number {
  const weight = sum(rows.map((row) => row.weight));
  const mean = sum(rows.map((row) => row.weight * of(row))) / weight;
  const events = [...grouped(rows, ({ event }) => event).values()];
  const residuals = events.map((cluster) => sum(cluster.map((row) => row.weight * (of(row) - mean))));
  return ((events.length / (events.length - 1)) * sum(residuals.map((one) => one ** 2))) / weight ** 2;
}

/** Wilson's interval of a fraction of `n` independent observations. */
function wilson(rate: number, n: number): [lower: number, upper: number] {
  const centre = (rate + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z * Math.sqrt((rate * (1 - rate)) / n + (Z / (2 * n)) ** 2)) / (1 + Z ** 2 / n);
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

/** The bin of a price: 7 is [0.07, 0.08). Prices of the sample have at most 6 decimals or are averages of such. */
function centOf(price: number): number {
  return Math.min(99, Math.floor(Math.round(price * 1e6) / 1e4));
}

/** Of forecasts of one weighting, horizon and basis, the scores by their definitions. */
function scoresOf(forecasts: readonly Forecast[]): Record<string, number | string | null> {
  const known = forecasts.filter(({ state }) => state === 'observed');
  const missing = forecasts.filter(({ state }) => state === 'missing').length;
  const share = missing / (known.length + missing);
  const counts = {
    markets: known.length,
    events: new Set(known.map(({ event }) => event)).size,
    missing_markets: missing,
    weight: sum(known.map(({ weight }) => weight)),
  };
  if (known.length < NEEDED) return { ...counts, state: 'too few' };
  if (share > MISSING_ALLOWED) return { ...counts, state: 'too many missing' };
  const mean = (rows: readonly Forecast[], of: (row: Forecast) => number) =>
    sum(rows.map((row) => row.weight * of(row))) / sum(rows.map(({ weight }) => weight));
  const bins = [...grouped(known, ({ forecast }) => String(centOf(forecast ?? 0))).values()];
  const all = counts.weight;
  const price = ({ forecast }: Forecast) => forecast ?? 0;
  const result = ({ result: value }: Forecast) => value;
  const base = mean(known, result);
  const overBins = (of: (bin: Forecast[], weight: number, forecast: number, rate: number) => number) =>
    sum(bins.map((bin) => of(bin, sum(bin.map(({ weight }) => weight)), mean(bin, price), mean(bin, result)))) / all;
  const uncertainty = base * (1 - base);
  const reliability = overBins((_, weight, forecast, rate) => weight * (forecast - rate) ** 2);
  const resolution = overBins((_, weight, __, rate) => weight * (rate - base) ** 2);
  const bias = overBins((_, weight, __, rate) => (weight > 1 ? (weight * rate * (1 - rate)) / (weight - 1) : 0));
  const equal = known[0]?.weighting === 'time';
  const brier = (row: Forecast) => (price(row) - result(row)) ** 2;
  const surprise = (row: Forecast) => -Math.log(result(row) === 1 ? price(row) : 1 - price(row));
  const interval = (of: (row: Forecast) => number): [number | null, number | null] => {
    if (counts.events < EVENTS_NEEDED) return [null, null];
    const half = Z * Math.sqrt(clusteredVariance(known, of));
    return [Math.max(0, mean(known, of) - half), mean(known, of) + half];
  };
  const [brierLower, brierUpper] = interval(brier);
  const [logLower, logUpper] = interval(surprise);
  return {
    ...counts,
    state: 'scored',
    brier_score: mean(known, brier),
    reliability,
    resolution,
    uncertainty,
    within_bin_variance: overBins((bin, weight, forecast) => weight * mean(bin, (row) => (price(row) - forecast) ** 2)),
    within_bin_covariance: overBins(
      (bin, weight, forecast, rate) => 2 * weight * mean(bin, (row) => (result(row) - rate) * (price(row) - forecast)),
    ),
    corrected_reliability: equal ? reliability - bias : null,
    corrected_resolution: equal ? resolution - bias + uncertainty / (all - 1) : null,
    corrected_uncertainty: equal ? uncertainty + uncertainty / (all - 1) : null,
    log_score: mean(known, surprise),
    brier_score_lower: brierLower,
    brier_score_upper: brierUpper === null ? null : Math.min(1, brierUpper),
    log_score_lower: logLower,
    log_score_upper: logUpper,
  };
}

/** Of forecasts of one group, the logistic regression of results on logits: by gradient steps of its own, not by those of the view. */
function regressionOf(forecasts: readonly Forecast[]): Record<string, number | string | null> {
  const known = forecasts.filter(({ state }) => state === 'observed');
  const missing = forecasts.filter(({ state }) => state === 'missing').length;
  const counts = { markets: known.length, missing_markets: missing, weight: sum(known.map(({ weight }) => weight)) };
  const events = new Set(known.map(({ event }) => event)).size;
  if (known.length < NEEDED) return { ...counts, events, state: 'too few' };
  if (missing / (known.length + missing) > MISSING_ALLOWED) return { ...counts, events, state: 'too many missing' };
  const points = known.map(({ forecast, event, result, weight }) => {
    const price = forecast ?? 0;
    return { x: Math.log(price / (1 - price)), event, result, weight };
  });
  const chance = (x: number, a: number, b: number) => 1 / (1 + Math.exp(-a - b * x));
  // Bisection of the slope, and of the intercept that is best for it: the likelihood is concave.
  const bisect = (isTooSmall: (value: number) => boolean): number => {
    let [low, high] = [-20, 20];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (isTooSmall(middle)) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  const score = (a: number, b: number, of: (x: number) => number) =>
    sum(points.map(({ x, result, weight }) => weight * (result - chance(x, a, b)) * of(x)));
  const interceptFor = (b: number) => bisect((a) => score(a, b, () => 1) > 0);
  const slope = bisect((b) => score(interceptFor(b), b, (x) => x) > 0);
  const intercept = interceptFor(slope);
  const fitted = { ...counts, events, state: 'fitted', slope, intercept };
  if (events < EVENTS_NEEDED) return fitted;
  const information = (of: (x: number) => number) =>
    sum(
      points.map(({ x, weight }) => weight * chance(x, intercept, slope) * (1 - chance(x, intercept, slope)) * of(x)),
    );
  const [h00, h01, h11] = [information(() => 1), information((x) => x), information((x) => x * x)];
  const determinant = h00 * h11 - h01 * h01;
  const influences = [...grouped(points, ({ event }) => event).values()].map((cluster) => {
    const residual = (point: (typeof points)[number]) =>
      point.weight * (point.result - chance(point.x, intercept, slope));
    const [u, v] = [sum(cluster.map(residual)), sum(cluster.map((point) => residual(point) * point.x))];
    return [(h11 * u - h01 * v) / determinant, (h00 * v - h01 * u) / determinant] as const;
  });
  const width = (which: 0 | 1) =>
    Z * Math.sqrt((events / (events - 1)) * sum(influences.map((influence) => influence[which] ** 2)));
  return {
    ...fitted,
    slope_lower: slope - width(1),
    slope_upper: slope + width(1),
    intercept_lower: intercept - width(0),
    intercept_upper: intercept + width(0),
  };
}

describe('forecasts of a market', () => {
  const data = () => new WarehouseData(hand.database);
  const close = 40 * DAY;

  beforeAll(async () => {
    const warehouse = data();
    const of = { event: 'e', markets: ['won', 'void', 'open', 'early'] };
    const known = { ...of, category: 'sport', created_at: time(-DAY), closes_at: time(close) };
    await warehouse.insert('event_observations', [eventSeen('e', time(0), known), eventSeen('e', time(close), known)]);
    await warehouse.insert(
      'market_observations',
      of.markets.map((market) => ({
        ...{ market, event: 'e', name: market, received_at: time(0), poll_id: 'p' },
        ...{ yes_asset: `${market} yes`, no_asset: `${market} no` },
      })),
    );
    const stream = { stream: 'order-book', ...of };
    // Not observed in the hour around 3 days before the close.
    await warehouse.insert('collector_events', [
      collectorEvent('s', 1, time(0), 'session-started'),
      collectorEvent('s', 2, time(DAY), 'subscribed', { ...stream, connection_id: 'c1' }),
      collectorEvent('s', 3, time(close - 3 * DAY - 1800), 'disconnected', {
        ...{ stream: 'order-book', connection_id: 'c1', cause: 'reset' },
      }),
      collectorEvent('s', 4, time(close - 3 * DAY + 1800), 'subscribed', { ...stream, connection_id: 'c2' }),
      collectorEvent('s', 5, time(close + DAY), 'session-stopped', { cause: 'done' }),
    ]);
    const book = (market: string, seconds: number, last: number, fields: Values = {}) =>
      tick(market, time(seconds), last, { event: 'e', ...fields });
    const empty = { bid: null, ask: null };
    await warehouse.insert('price_ticks', [
      // No trade yet.
      book('won', DAY, 0, { bid: 0.2, ask: 0.4 }),
      book('won', close - 20 * DAY, 0.3),
      book('won', close - 7 * DAY + 1, 0.35),
      book('won', close - DAY - 3600, 0.4),
      // Received at the very moment of the forecast of 1 day: the later of two.
      book('won', close - DAY, 0.5),
      book('won', close - DAY, 0.55),
      { ...book('won', close - 7 * HOUR, 0.99), repeated: true },
      book('won', close - HOUR + 1, 0.8),
      book('won', close + 100, 1, empty),
      ...[book('void', DAY, 0.5), book('open', DAY, 0.5)],
      // Resolved 10 days before the planned end; a reconnect sent the final price again.
      book('early', 2 * DAY, 0.1),
      ...[book('early', close - 10 * DAY, 0, empty), book('early', close - 2 * DAY, 0, empty)],
    ]);
    const payout = (asset: string) => ({
      ...{ ...seen('ann', time(close + 300), 'p'), transaction_id: asset, asset, amount: '1' },
      ...{ type: 'PAYOUT', status: 'COMPLETED', created_at: time(close + 200) },
    });
    await warehouse.insert('transaction_records', [payout('void yes'), payout('void no')]);
    const { receipt, page } = polled('activity', '', time(close - 6 * HOUR));
    await warehouse.insert('polls', [receipt]);
    await warehouse.insert('account_pages', [{ ...page, items: 0 }]);
    const sold = (id: string, seconds: number, price: string, primary = true) => ({
      ...seen('', time(close), 'p'),
      ...{ trade_record_id: id, market: 'won', position: primary ? 'YES' : 'NO', is_primary: primary, side: 'BUY' },
      ...{ quantity: id === 'b' ? '100' : '1', price, executed_at: time(seconds) },
    });
    await warehouse.insert('activity_records', [
      sold('a', close - DAY, '0.5'),
      // In YES terms 0.44.
      sold('b', close - 2 * DAY, '0.56', false),
      sold('c', close - 20 * HOUR, '0.6'),
      sold('d', close - 2 * HOUR, '0.7'),
    ]);
  });

  const columns = 'horizon, state, round(forecast, 9) AS forecast, age_seconds AS age, weight';
  const of = (market: string, weighting: string) =>
    data().ask<Record<string, unknown>>(
      `SELECT ${columns} FROM calibration_forecasts WHERE market = '${market}' AND weighting = '${weighting}' ORDER BY horizon_seconds`,
    );
  const unknown = { forecast: null, age: null, weight: 0 };

  it('are the last trade prices that were known and observed, with their age', async () => {
    expect(await of('won', 'time')).toEqual([
      { horizon: '1 h', state: 'observed', forecast: 0.55, age: 23 * HOUR, weight: 1 },
      { horizon: '6 h', state: 'observed', forecast: 0.55, age: 18 * HOUR, weight: 1 },
      { horizon: '1 d', state: 'observed', forecast: 0.55, age: 0, weight: 1 },
      // Not observed then.
      { horizon: '3 d', state: 'missing', ...unknown },
      { horizon: '7 d', state: 'observed', forecast: 0.3, age: 13 * DAY, weight: 1 },
      // The last price of 0 before the first trade is none.
      { horizon: '30 d', state: 'missing', ...unknown },
    ]);
  });

  it('of trades are averages since the next longer horizon, as far as the activity feed is complete', async () => {
    const none = { state: 'no trade', ...unknown };
    expect(await of('won', 'trades')).toEqual([
      { horizon: '1 h', state: 'missing', ...unknown },
      // 0.6 alone: 0.5 was traded at the moment of 1 d.
      { horizon: '6 h', state: 'observed', forecast: 0.6, age: 14 * HOUR, weight: 1 },
      // (0.5 + 0.44) / 2: each trade counts once.
      { horizon: '1 d', state: 'observed', forecast: 0.47, age: 0, weight: 2 },
      { horizon: '3 d', ...none },
      { horizon: '7 d', ...none },
      { horizon: '30 d', ...none },
    ]);
  });

  it('count from the resolution where that came before the planned end', async () => {
    const rows = await data().ask(
      `SELECT horizon, close_basis, toUnixTimestamp(close_at) - 1767614400 AS close, forecast, result, basis, category
       FROM calibration_forecasts WHERE market = 'early' AND weighting = 'time' AND horizon IN ('1 h', '7 d') ORDER BY horizon`,
    );
    const early = { close_basis: 'resolution', close: close - 10 * DAY, forecast: 0.1, category: 'sport' };
    const known = { result: 0, basis: 'final chance' };
    expect(rows).toEqual([
      { horizon: '1 h', ...early, ...known },
      { horizon: '7 d', ...early, ...known },
    ]);
  });

  it('leave out void and unresolved markets, and horizons before the market was opened', async () => {
    const rows = await data().ask(
      'SELECT market, count() AS rows, countIf(horizon_seconds = 2592000) AS months FROM calibration_forecasts GROUP BY market ORDER BY market',
    );
    // `early` was opened 31 days before its resolution.
    expect(rows).toEqual([
      { market: 'early', rows: 12, months: 2 },
      { market: 'won', rows: 12, months: 2 },
    ]);
  });

  it('of fewer than 30 markets show their number and no score', async () => {
    const rows = await data().ask(
      `SELECT markets, missing_markets, missing, state, brier_score, log_score FROM calibration_scores
       WHERE weighting = 'time' AND horizon = '3 d' AND basis = 'any'`,
    );
    const none = { brier_score: null, log_score: null };
    expect(rows).toEqual([{ markets: 1, missing_markets: 1, missing: 0.5, state: 'too few', ...none }]);
    const bins = await data().ask(
      `SELECT cent, markets, forecast, win_rate, missing FROM calibration_curve
       WHERE weighting = 'time' AND horizon = '1 d' AND basis = 'any' ORDER BY cent`,
    );
    expect(bins).toEqual([
      { cent: 10, markets: 1, forecast: 0.1, win_rate: null, missing: 0 },
      { cent: 55, markets: 1, forecast: 0.55, win_rate: null, missing: 0 },
    ]);
  });
});

describe('scores of forty markets, worked by hand', () => {
  const data = () => new WarehouseData(worked.database);
  /** Price, markets, and how many of them were resolved YES. */
  const groups = [
    [0.2, 10, 1],
    [0.206, 10, 3],
    [0.7, 20, 15],
  ] as const;

  beforeAll(async () => {
    const all = groups.flatMap(([price, count, wins]) =>
      Array.from({ length: count }, (_, i) => ({ market: `${price} ${i}`, price, result: i < wins ? 1 : 0 })),
    );
    const markets = all.map(({ market }) => market);
    const event = { markets, created_at: time(0), closes_at: time(2 * HOUR) };
    await data().insert('event_observations', [eventSeen('e', time(0), event)]);
    await data().insert('collector_events', [
      collectorEvent('s', 1, time(0), 'session-started'),
      collectorEvent('s', 2, time(0), 'subscribed', { stream: 'order-book', event: 'e', markets, connection_id: 'c' }),
      collectorEvent('s', 3, time(DAY), 'session-stopped', { cause: 'done' }),
    ]);
    await data().insert(
      'market_observations',
      markets.map((market) => ({ market, event: 'e', name: market, received_at: time(0), poll_id: 'p' })),
    );
    await data().insert(
      'price_ticks',
      all.flatMap(({ market, price, result }) => [
        tick(market, time(60), price, { event: 'e' }),
        tick(market, time(3 * HOUR), result, { event: 'e', bid: null, ask: null }),
      ]),
    );
    // In every market a taker bought YES at 0.2.
    await data().insert(
      'activity_records',
      markets.map((market) => ({
        ...{ ...seen('', time(DAY), 'p'), trade_record_id: market, market, is_primary: true, position: 'YES' },
        ...{ side: 'BUY', quantity: '5', price: '0.2', executed_at: time(100) },
      })),
    );
  });

  it('have the slope and intercept of a logistic regression, which leave no part of the results unexplained', async () => {
    const rows = await data().ask<Record<string, number | string>>(
      `SELECT dimension, value, markets, events, state, slope, intercept, slope_lower FROM calibration_regression
       WHERE weighting = 'time' AND basis = 'any' ORDER BY dimension`,
    );
    expect(rows.map(({ dimension, value, markets, state }) => [dimension, value, markets, state])).toEqual([
      ['all', '', 40, 'fitted'],
      ['category', '', 40, 'fitted'],
      ['size', 'unknown', 40, 'fitted'],
    ]);
    for (const { slope, intercept, slope_lower } of rows) {
      const chance = (price: number) =>
        1 / (1 + Math.exp(-Number(intercept) - Number(slope) * Math.log(price / (1 - price))));
      // As many are expected to be resolved YES as were: 19 in all, and the same with each weighted by its logit.
      const residuals = groups.map(
        ([price, count, wins]) => [wins - count * chance(price), Math.log(price / (1 - price))] as const,
      );
      expect(sum(residuals.map(([residual]) => residual))).toBeCloseTo(0, 9);
      expect(sum(residuals.map(([residual, logit]) => residual * logit))).toBeCloseTo(0, 9);
      // 0.2 and 0.206 are nearly one price, of which 4 of 20 won; of 0.7 won 15 of 20: (ln 3 - ln 0.25) / (ln 7/3 - ln 0.2545) = 1.12.
      expect(Number(slope)).toBeCloseTo(
        (Math.log(3) - Math.log(0.25)) / (Math.log(7 / 3) - Math.log(0.203 / 0.797)),
        2,
      );
      // All are of one event.
      expect(slope_lower).toBe(null);
    }
  });

  it('have the five parts of the Brier score, corrected parts and the log score', async () => {
    const [row = {}, ...others] = await data().ask<Record<string, number | string>>(
      `SELECT * FROM calibration_scores WHERE weighting = 'time' AND basis = 'any'`,
    );
    expect(others).toEqual([]);
    expect(row).toMatchObject({ horizon: '1 h', markets: 40, events: 1, missing: 0, weight: 40, state: 'scored' });
    // Bin 20: 20 markets, mean price 0.203, mean result 0.2. Bin 70: 20 markets, 0.7 and 0.75. All: 19 / 40 = 0.475.
    const uncertainty = 0.475 * 0.525;
    // 20 × 0.2 × 0.8 / 19 and 20 × 0.75 × 0.25 / 19.
    const bias = (3.2 + 3.75) / 19 / 40;
    const log = Math.log;
    const expected = {
      // 1 × 0.64 + 9 × 0.04 + 3 × 0.630436 + 7 × 0.042436 + 15 × 0.09 + 5 × 0.49 = 6.98836.
      brier_score: 0.174709,
      // (20 × 0.003² + 20 × 0.05²) / 40
      reliability: 0.0012545,
      // 0.275²
      resolution: 0.075625,
      uncertainty: 0.249375,
      // 20 × 0.003² / 40
      within_bin_variance: 0.0000045,
      // 2 × (-0.003 × (1 - 2) + 0.003 × (3 - 2)) / 40
      within_bin_covariance: 0.0003,
      corrected_reliability: 0.0012545 - bias,
      corrected_resolution: 0.075625 - bias + uncertainty / 39,
      corrected_uncertainty: uncertainty + uncertainty / 39,
      log_score: -(log(0.2) + 9 * log(0.8) + 3 * log(0.206) + 7 * log(0.794) + 15 * log(0.7) + 5 * log(0.3)) / 40,
    };
    for (const [part, value] of Object.entries(expected)) expect(row[part], part).toBeCloseTo(value, 12);
  });

  it('have no bin with 30 markets, and longshots with 40', async () => {
    const bins = await data().ask(
      `SELECT cent, markets, round(forecast, 9) AS forecast, state, win_rate FROM calibration_curve
       WHERE weighting = 'time' AND basis = 'any' ORDER BY cent`,
    );
    expect(bins).toEqual([
      { cent: 20, markets: 20, forecast: 0.203, state: 'too few', win_rate: null },
      { cent: 70, markets: 20, forecast: 0.7, state: 'too few', win_rate: null },
    ]);
    const rows = await data().ask(
      `SELECT role, cent, trades, win_rate, round(yes_excess_return, 9) AS yes, round(no_excess_return, 9) AS no
       FROM longshots WHERE basis = 'final chance' ORDER BY role`,
    );
    // YES at 0.2 won 19 of 40: 19 / 8 - 1. NO at 0.8 won 21: 21 / 32 - 1.
    const all = { cent: 20, trades: 40, win_rate: 0.475 };
    expect(rows).toEqual([
      { role: 'any', ...all, yes: 1.375, no: -0.34375 },
      { role: 'maker', ...all, yes: null, no: -0.34375 },
      { role: 'taker', ...all, yes: 1.375, no: null },
    ]);
  });

  // The last one: its markets are in the other horizons too.
  it('have no regression where all forecasts are equal, or a price separates the results', async () => {
    const closes = 30 * HOUR;
    const all = ['equal', 'apart'].flatMap((event) =>
      Array.from({ length: 30 }, (_, i) => {
        const result = i % 2;
        return { event, market: `${event} ${i}`, price: event === 'equal' ? 0.4 : 0.3 + 0.4 * result, result };
      }),
    );
    for (const event of ['equal', 'apart']) {
      const markets = all.filter((one) => one.event === event).map(({ market }) => market);
      const known = { markets, category: event, created_at: time(0), closes_at: time(closes) };
      await data().insert('event_observations', [eventSeen(event, time(0), known)]);
      await data().insert('collector_events', [
        collectorEvent(event, 1, time(0), 'session-started'),
        collectorEvent(event, 2, time(0), 'subscribed', { stream: 'order-book', event, markets, connection_id: event }),
        collectorEvent(event, 3, time(2 * closes), 'session-stopped', { cause: 'done' }),
      ]);
    }
    await data().insert(
      'market_observations',
      all.map(({ market, event }) => ({ market, event, name: market, received_at: time(0), poll_id: 'p' })),
    );
    await data().insert(
      'price_ticks',
      all.flatMap(({ event, market, price, result }) => [
        tick(market, time(60), price, { event }),
        tick(market, time(closes + HOUR), result, { event, bid: null, ask: null }),
      ]),
    );
    const rows = await data().ask(
      `SELECT value, markets, state, slope, intercept, slope_lower FROM calibration_regression
       WHERE weighting = 'time' AND basis = 'any' AND horizon = '6 h' AND dimension = 'category' ORDER BY value`,
    );
    const none = { markets: 30, state: 'not determined', slope: null, intercept: null, slope_lower: null };
    expect(rows).toEqual([
      { value: 'apart', ...none },
      { value: 'equal', ...none },
    ]);
  });
});

describe('scores of random markets', () => {
  const sample = new CalibrationSample(5, 400);
  let data: WarehouseData;
  let forecasts: Forecast[];

  beforeAll(async () => {
    data = new WarehouseData(random.database);
    await sample.insert(data);
    forecasts = sample.forecasts();
  });

  /** Forecasts once for their basis and once for any. */
  const byBasis = () => forecasts.flatMap((one) => [one, { ...one, basis: 'any' }]);

  it('are of the forecasts that were recomputed', async () => {
    const rows = await data.ask<Forecast>(
      'SELECT weighting, horizon, event, market, state, forecast, weight, result, basis FROM calibration_forecasts ORDER BY weighting, market, horizon_seconds',
    );
    expect(rows.length).toBeGreaterThan(2000);
    const text = ({ forecast, ...fields }: Forecast) => [fields, forecast === null ? null : forecast.toFixed(12)];
    expect(rows.map(text)).toEqual(forecasts.map(text));
  });

  it('of a logistic regression equal one by bisection, in all and by size', async () => {
    const rows = await data.ask<Scores>('SELECT * FROM calibration_regression');
    const volumes = await data.ask<{ market: string; volume: number }>(
      "SELECT market, toFloat64(volume) AS volume FROM volume_by_market WHERE scope = 'all'",
    );
    const closes = await data.ask<{ market: string; late: number }>(
      `SELECT DISTINCT market, toUInt8(close_at > (SELECT max(complete_to) FROM volume_completeness WHERE scope = 'all')) AS late FROM calibration_forecasts`,
    );
    const volumeOf = new Map(volumes.map(({ market, volume }) => [market, Number(volume)]));
    const isLate = new Map(closes.map(({ market, late }) => [market, late === 1]));
    const sizeOf = ({ market }: Forecast) => {
      const volume = volumeOf.get(market) ?? 0;
      if (isLate.get(market)) return 'unknown';
      return volume < 100 ? 'under 100' : volume < 1000 ? '100 to 1000' : 'more';
    };
    const key = ({ weighting, horizon, basis }: Scores | Forecast, dimension: unknown, value: unknown) =>
      `${weighting} ${horizon} ${basis} ${dimension} ${value}`;
    const counted = byBasis().filter(({ state }) => state !== 'no trade');
    const all = grouped(counted, (one) => key(one, 'all', ''));
    const groups = new Map([
      ...all,
      ...grouped(counted, (one) => key(one, 'category', '')),
      ...grouped(counted, (one) => key(one, 'size', sizeOf(one))),
    ]);
    expect(rows.map((row) => key(row, row.dimension, row.value)).sort()).toEqual([...groups.keys()].sort());
    let fitted = 0;
    for (const row of rows) {
      const name = key(row, row.dimension, row.value);
      const expected = regressionOf(groups.get(name) ?? []);
      for (const [column, value] of Object.entries(expected)) {
        if (typeof value === 'number') expect(Number(row[column]), `${name} ${column}`).toBeCloseTo(value, 7);
        else expect([name, row[column]]).toEqual([name, value]);
      }
      if (row.state === 'fitted') fitted += 1;
      else expect(row).toMatchObject({ slope: null, intercept: null, slope_lower: null });
    }
    expect(fitted).toBeGreaterThan(20);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['fitted', 'too few', 'too many missing']));
  });

  it('equal their definitions to 1e-12, also the five parts, whose sum is the Brier score', async () => {
    const rows = await data.ask<Scores>('SELECT * FROM calibration_scores');
    const key = ({ weighting, horizon, basis }: Scores | Forecast) => `${weighting} ${horizon} ${basis}`;
    const groups = grouped(
      byBasis().filter(({ state }) => state !== 'no trade'),
      key,
    );
    expect(rows.map(key).sort()).toEqual([...groups.keys()].sort());
    for (const row of rows) {
      const expected = scoresOf(groups.get(key(row)) ?? []);
      for (const [column, value] of Object.entries(expected)) {
        // Intervals are of scores with 12 decimals.
        const tolerance = /_(lower|upper)$/.test(column) ? 1e-10 : 1e-12;
        const shown =
          typeof value === 'number' ? Math.abs(Number(row[column]) - value) < tolerance || row[column] : value;
        expect([key(row), column, shown]).toEqual([key(row), column, typeof value === 'number' ? true : row[column]]);
      }
      if (row.state !== 'scored') {
        expect(row).toMatchObject({ brier_score: null, reliability: null, corrected_reliability: null });
        continue;
      }
      const part = (column: string) => Number(row[column]);
      const parts =
        part('reliability') -
        part('resolution') +
        part('uncertainty') +
        part('within_bin_variance') -
        part('within_bin_covariance');
      expect(Math.abs(parts - part('brier_score'))).toBeLessThan(1e-12);
      // The three classic parts alone are off.
      expect(Math.abs(part('within_bin_variance') - part('within_bin_covariance'))).toBeGreaterThan(1e-9);
    }
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['scored', 'too few', 'too many missing']));
    expect(rows.filter(({ state }) => state === 'scored').map(({ weighting }) => weighting)).toContain('trades');
  });

  it('have a curve whose bins hold the forecasts from their lower edge on', async () => {
    const rows = await data.ask<Record<string, number | string | null>>('SELECT * FROM calibration_curve');
    const key = (row: Record<string, unknown>) =>
      `${row['weighting']} ${row['horizon']} ${row['basis']} ${row['cent']}`;
    const known = byBasis().filter(({ state }) => state === 'observed');
    const bins = grouped(known, (one) => key({ ...one, cent: centOf(one.forecast ?? 0) }));
    expect(rows.map(key).sort()).toEqual([...bins.keys()].sort());
    let scored = 0;
    let withInterval = 0;
    for (const row of rows) {
      const bin = bins.get(key(row)) ?? [];
      const weight = sum(bin.map((one) => one.weight));
      expect([key(row), row['markets'], row['weight']]).toEqual([key(row), bin.length, weight]);
      const forecast = sum(bin.map((one) => one.weight * (one.forecast ?? 0))) / weight;
      expect(Math.abs(Number(row['forecast']) - forecast)).toBeLessThan(1e-12);
      if (row['state'] !== 'scored') {
        expect(row['win_rate']).toBeNull();
        continue;
      }
      scored += 1;
      expect(bin.length).toBeGreaterThanOrEqual(NEEDED);
      const rate = sum(bin.map((one) => one.weight * one.result)) / weight;
      expect(Math.abs(Number(row['win_rate']) - rate)).toBeLessThan(1e-12);
      const events = new Set(bin.map(({ event }) => event)).size;
      const variance = clusteredVariance(bin, ({ result }) => result);
      const bounds = wilson(rate, variance === 0 ? events : (rate * (1 - rate)) / variance);
      const shown = [row['win_rate_lower'], row['win_rate_upper']];
      if (events < EVENTS_NEEDED) expect(shown).toEqual([null, null]);
      else for (const [n, bound] of bounds.entries()) expect(Math.abs(Number(shown[n]) - bound)).toBeLessThan(1e-9);
      withInterval += events < EVENTS_NEEDED ? 0 : 1;
    }
    expect(withInterval).toBeGreaterThan(0);
    expect(scored).toBeGreaterThan(0);
    // 0.29 × 100 is 28.999999999999996, and 0.58 × 100 is 57.99999999999999: their bins are 29 and 58 all the same.
    const cents = new Set(rows.filter((row) => row['weighting'] === 'time').map((row) => row['cent']));
    expect(cents).toEqual(new Set([7, 29, 50, 58, 93]));
  });

  it('of trades by cent have the excess return of both outcomes, of takers and makers', async () => {
    const rows = await data.ask<Record<string, number | string | null>>('SELECT * FROM longshots');
    const shares = sample.results().flatMap(({ trades, result, basis, market }) =>
      trades.flatMap((one) =>
        [basis, 'any'].flatMap((of) =>
          ['any', 'taker', 'maker'].map((role) => {
            const takesYes = (role === 'taker') === one.takerGetsYes;
            const gets = { yes: role === 'any' || takesYes, no: role === 'any' || !takesYes };
            return { role, basis: of, cent: centOf(one.price), market, price: one.price, result, ...gets };
          }),
        ),
      ),
    );
    const key = (row: Record<string, unknown>) => `${row['role']} ${row['basis']} ${row['cent']}`;
    const groups = grouped(shares, key);
    expect(rows.map(key).sort()).toEqual([...groups.keys()].sort());
    const shown = { win_rate: 0, yes_excess_return: 0, no_excess_return: 0 };
    for (const row of rows) {
      const all = groups.get(key(row)) ?? [];
      const yes = all.filter((one) => one.yes);
      const no = all.filter((one) => one.no);
      const markets = (list: typeof all) => new Set(list.map(({ market }) => market)).size;
      expect([key(row), row['trades'], row['markets'], row['yes_markets'], row['no_markets']]).toEqual([
        ...[key(row), all.length, markets(all), markets(yes), markets(no)],
      ]);
      const expected = {
        win_rate: markets(all) < NEEDED ? null : sum(all.map(({ result }) => result)) / all.length,
        yes_excess_return:
          markets(yes) < NEEDED
            ? null
            : sum(yes.map(({ result, price }) => result - price)) / sum(yes.map(({ price }) => price)),
        no_excess_return:
          markets(no) < NEEDED
            ? null
            : sum(no.map(({ result, price }) => price - result)) / sum(no.map(({ price }) => 1 - price)),
      };
      for (const column of Object.keys(shown) as (keyof typeof shown)[]) {
        const value = expected[column];
        if (value === null) expect([key(row), column, row[column]]).toEqual([key(row), column, null]);
        else {
          shown[column] += 1;
          expect(Math.abs(Number(row[column]) - value)).toBeLessThan(1e-12);
        }
      }
    }
    expect(Math.min(...Object.values(shown))).toBeGreaterThan(0);
  });
});
