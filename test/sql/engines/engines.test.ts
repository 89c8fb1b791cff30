import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../../core/index.js';
import { useDatabase } from '../../support/database.js';
import { describeWithout } from '../../support/describe-without.js';
import { makeEnvironment, python, whyNoPython } from '../../support/python.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { seen, trade } from '../account-data.js';
import { CalibrationSample } from '../calibration-sample.js';
import { collectorEvent, eventSeen, tick, time, type Values, WarehouseData } from '../warehouse-data.js';

/** Shares and USDC per share, as decimal text. */
type Fill = readonly [side: 'BUY' | 'SELL', quantity: string, price: string];
interface Trade {
  readonly id: string;
  readonly at: number;
  readonly direction: number;
  readonly price: number;
}
interface Answers {
  readonly fifo: readonly (readonly [cost: string, realised: string])[];
  readonly average_cost: readonly (readonly [price: number, realised: number])[];
  readonly calibration: readonly {
    readonly brier: number;
    readonly log: number;
    readonly slope: number;
    readonly intercept: number;
    readonly curve: readonly (readonly [forecast: number, rate: number])[];
  }[];
  readonly drawdown: number;
  readonly prices: {
    readonly candles: readonly (readonly number[])[];
    readonly twap: readonly (readonly number[])[];
    readonly markouts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
}

const ACCOUNTS = 1000;
const FIRST_AT = 1_767_614_400;
const PERIOD = 300;
const SECONDS = 7200;
const MARGIN_MS = 250;
const CAPITAL = 500;
const DECIMALS = 12;

/** A decimal number in 10^-12. */
function units(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  return text.startsWith('-') ? -value : value;
}

/** Fills that never sell all that is held: some engines begin a new position then. */
function randomFills(random: Random): Fill[] {
  let held = 0;
  return Array.from({ length: random.integer(2, 8) }, (): Fill => {
    const sells = held > 1 && random.next() < 0.5;
    const quantity = sells ? random.integer(1, held - 1) : random.integer(2, 2000);
    held += sells ? -quantity : quantity;
    return [sells ? 'SELL' : 'BUY', (quantity / 100).toFixed(2), (random.integer(1, 99) / 100).toFixed(3)];
  });
}

function randomTicks(random: Random): { at: number; last: number; bid: number; ask: number }[] {
  const at = [0];
  for (let next = 0; next < SECONDS - 1; ) {
    next = Math.min(SECONDS - 1, next + random.integer(1, 40));
    at.push(next);
  }
  return at.map((second) => {
    const [last, bid, width] = [random.integer(1, 99), random.integer(1, 90), random.integer(0, 9)];
    return { at: second, last: last / 100, bid: bid / 100, ask: (bid + width) / 100 };
  });
}

const SUITE = 'figures of views, computed again by libraries that others wrote';

function suite(): void {
  const random = new Random(13);
  const accounts = Array.from({ length: ACCOUNTS }, () => randomFills(random));
  const ticks = randomTicks(random);
  // Between the seconds of ticks, with any margin.
  const trades = Array.from(
    { length: 300 },
    (_, i): Trade => ({
      id: `f${i}`,
      at: random.integer(PERIOD, SECONDS - 2 * PERIOD) + 0.5,
      direction: random.next() < 0.5 ? 1 : -1,
      price: random.integer(1, 99) / 100,
    }),
  );
  const [books, market, markets] = [true, true, true].map((migrated) => useDatabase({ migrated }));
  const ask = <Row = Values>(of: typeof books, sql: string): Promise<Row[]> => {
    if (!of) throw new Error('the database exists');
    return new WarehouseData(of.database).ask<Row & Values>(sql);
  };
  let answers: Answers;
  let groups: Map<string, { forecast: number[]; result: number[]; weight: number[] }>;
  let curve: { equity: number; drawdown: number }[];

  async function insertPrices(data: WarehouseData): Promise<void> {
    const on = { stream: 'order-book', event: 'race', markets: ['p'], connection_id: 'c' };
    await data.insert('event_observations', [eventSeen('race', time(0), { markets: ['p'], created_at: time(0) })]);
    await data.insert('market_observations', [
      { market: 'p', event: 'race', name: 'p', received_at: time(0), poll_id: 'p', yes_asset: 'yes', no_asset: 'no' },
    ]);
    await data.insert('collector_events', [
      collectorEvent('s', 1, time(-1), 'session-started'),
      collectorEvent('s', 2, time(0), 'subscribed', on),
      collectorEvent('s', 3, time(SECONDS), 'session-stopped', { cause: 'done' }),
    ]);
    await data.insert(
      'price_ticks',
      ticks.map(({ at, last, bid, ask: best }) => tick('p', time(at), last, { event: 'race', bid, ask: best })),
    );
    await data.insert(
      'activity_records',
      trades.map(({ id, at, direction, price }, i) => ({
        ...{ ...seen('', time(SECONDS), 'p'), trade_record_id: id, user_id: 'u', market: 'p', is_primary: null },
        ...{ position: i % 2 === 0 ? 'YES' : 'NO', side: (direction === 1) === (i % 2 === 0) ? 'BUY' : 'SELL' },
        ...{ price: (i % 2 === 0 ? price : 1 - price).toFixed(2), quantity: '1', executed_at: time(at) },
      })),
    );
    const bought = { event: 'race', market: 'p', asset: 'yes', quantity: '100', price: '0.5', executed_at: time(1) };
    await data.insert('trade_records', [trade('dora', 'd', bought)]);
  }

  beforeAll(async () => {
    if (!books || !market || !markets) throw new Error('the databases exist');
    await new WarehouseData(books.database).insert(
      'trade_records',
      accounts.flatMap((fills, number) =>
        fills.map(([side, quantity, price], i) =>
          trade(`a${number}`, `${number} ${i}`, { side, quantity, price, executed_at: time(i) }),
        ),
      ),
    );
    await insertPrices(new WarehouseData(market.database));
    await new CalibrationSample(5, 400).insert(new WarehouseData(markets.database));
    const forecasts = await ask<{ group: string; forecast: number; result: number; weight: number }>(
      markets,
      `SELECT concat(weighting, ' ', horizon) AS group, forecast, result, weight FROM calibration_forecasts
       WHERE state = 'observed' ORDER BY group, market`,
    );
    groups = new Map();
    for (const { group, forecast, result, weight } of forecasts) {
      const of = groups.get(group) ?? { forecast: [], result: [], weight: [] };
      groups.set(group, of);
      of.forecast.push(forecast);
      of.result.push(result);
      of.weight.push(weight);
    }
    curve = await ask(
      market,
      `SELECT toFloat64(equity) AS equity, toFloat64(drawdown) AS drawdown
       FROM equity_curve(period_seconds = ${PERIOD}, price = 'mid') WHERE account = 'dora' AND begins_at < '${time(SECONDS)}' ORDER BY begins_at`,
    );
    const questions = {
      fifo: accounts,
      average_cost: accounts,
      calibration: [...groups.values()],
      drawdown: { capital: CAPITAL, equity: curve.map(({ equity }) => equity) },
      prices: {
        ...{ period: PERIOD, margin: MARGIN_MS / 1000 },
        ticks: ticks.map(({ at, last, bid, ask: best }) => [FIRST_AT + at, last, (bid + best) / 2]),
        trades: trades.map(({ id, at, direction, price }) => [id, FIRST_AT + at, direction, price]),
      },
    };
    const file = join(temporaryFolder(), 'questions.json');
    writeFileSync(file, JSON.stringify(questions));
    await makeEnvironment();
    answers = JSON.parse(await python([join(import.meta.dirname, 'engines.py'), file])) as Answers;
  });

  const positions = () =>
    ask<{ cost: string; realised: string; fifo_cost: string; fifo_realised: string; shares: number }>(
      books,
      `SELECT toString(cost) AS cost, toString(realised_pnl) AS realised, toString(fifo_cost) AS fifo_cost,
         toString(fifo_realised_pnl) AS fifo_realised, toFloat64(shares) AS shares
       FROM pnl_by_asset ORDER BY toUInt32(substring(account, 2))`,
    );

  it('first in, first out is the booking of beancount, to the last unit', async () => {
    const ours = (await positions()).map((row) => [units(row.fifo_cost), units(row.fifo_realised)]);
    expect(ours).toEqual(answers.fifo.map(([cost, realised]) => [units(cost), units(realised)]));
    expect(ours).toHaveLength(ACCOUNTS);
  });

  it('average cost is that of nautilus_trader, which rounds to millionths at each fill', async () => {
    const ours = await positions();
    expect(ours).toHaveLength(ACCOUNTS);
    const far = ours.filter(({ cost, realised, shares }, i) => {
      const [price = Number.NaN, profit = Number.NaN] = answers.average_cost[i] ?? [];
      const allowed = 1e-6 * (accounts[i]?.length ?? 0);
      return !(Math.abs(Number(cost) - price * shares) < allowed && Math.abs(Number(realised) - profit) < allowed);
    });
    expect(far).toEqual([]);
  });

  it('Brier score, log score, slope and intercept are those of scikit-learn', async () => {
    const rows = await ask<Record<string, number | null> & { group: string }>(
      markets,
      `SELECT concat(weighting, ' ', horizon) AS group, brier_score, log_score, slope, intercept
       FROM calibration_scores INNER JOIN calibration_regression USING (weighting, horizon, basis)
       WHERE basis = 'any' AND dimension = 'all' ORDER BY group`,
    );
    const theirs = new Map([...groups.keys()].map((group, i) => [group, answers.calibration[i]]));
    let scored = 0;
    for (const { group, brier_score, log_score, slope, intercept } of rows) {
      if (brier_score === null) continue;
      scored += 1;
      const { brier, log, ...line } = theirs.get(group) ?? { brier: 0, log: 0, slope: 0, intercept: 0 };
      expect(brier_score, group).toBeCloseTo(brier, 12);
      expect(log_score, group).toBeCloseTo(log, 12);
      expect(slope, group).toBeCloseTo(line.slope, 6);
      expect(intercept, group).toBeCloseTo(line.intercept, 6);
    }
    expect(scored).toBeGreaterThan(5);
  });

  it('the reliability curve is that of scikit-learn', async () => {
    const bins = await ask<{ group: string; forecast: number; win_rate: number }>(
      markets,
      `SELECT concat(weighting, ' ', horizon) AS group, forecast, win_rate FROM calibration_curve
       WHERE basis = 'any' AND weighting = 'time' AND state = 'scored' ORDER BY group, cent`,
    );
    expect(bins.length).toBeGreaterThan(5);
    const theirs = new Map([...groups.keys()].map((group, i) => [group, answers.calibration[i]?.curve ?? []]));
    for (const { group, forecast, win_rate } of bins) {
      const [, rate] = theirs.get(group)?.find(([one]) => Math.abs(one - forecast) < 1e-9) ?? [];
      expect(win_rate, `${group} ${forecast}`).toBeCloseTo(rate ?? Number.NaN, 12);
    }
  });

  it('the largest drawdown is that of empyrical', () => {
    expect(curve).toHaveLength(SECONDS / PERIOD);
    const ours = curve.map(({ equity, drawdown }) => drawdown / (CAPITAL + equity + drawdown));
    expect(Math.max(...ours)).toBeGreaterThan(0.01);
    expect(Math.max(...ours)).toBeCloseTo(answers.drawdown, 12);
  });

  it('candles and time-weighted prices are those of pandas', async () => {
    const candles = await ask<Record<string, number>>(
      market,
      `SELECT toUnixTimestamp(begins_at) AS at, open, high, low, close, ticks FROM candles(period_seconds = ${PERIOD}) ORDER BY at`,
    );
    expect(candles.map(Object.values)).toEqual(answers.prices.candles);
    const averages = await ask<{ at: number; last_twap: number }>(
      market,
      `SELECT toUnixTimestamp(begins_at) AS at, last_twap
       FROM time_weighted_prices(period_seconds = ${PERIOD}, from_at = '${time(0)}', to_at = '${time(SECONDS)}') ORDER BY at`,
    );
    expect(averages.map(({ at }) => at)).toEqual(answers.prices.twap.map(([at]) => at));
    expect(averages).toHaveLength(SECONDS / PERIOD);
    for (const [i, { last_twap }] of averages.entries()) {
      expect(last_twap).toBeCloseTo(answers.prices.twap[i]?.[1] ?? Number.NaN, 9);
    }
  });

  it('quotes before trades and markouts after them are those of pandas.merge_asof', async () => {
    const rows = await ask<Record<string, number> & { fill_id: string }>(
      market,
      `SELECT fill_id, mid, markout_5s, markout_1m, markout_5m FROM trade_quotes(margin_ms = ${MARGIN_MS}, scope = 'all')`,
    );
    expect(rows).toHaveLength(trades.length);
    for (const { fill_id, ...figures } of rows) {
      for (const [name, value] of Object.entries(figures)) {
        expect(value, `${fill_id} ${name}`).toBeCloseTo(answers.prices.markouts[name]?.[fill_id] ?? Number.NaN, 9);
      }
    }
  });
}

const missing = whyNoPython();
if (missing === undefined) describe(SUITE, suite);
else describeWithout(SUITE, missing, {}, suite);
