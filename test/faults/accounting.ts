import type { PriceChange } from '../pipeline/rig.js';
import { CLOCKS_MICROS } from './clocks.js';
import { type EventStreamName, OPENING_CHANCE } from './market.js';
import { match } from './match.js';
import type { FaultStage } from './stage.js';

/** What the database has in place of a change that was not recorded. */
export type Explanation = 'gap' | 'dead letter' | 'backfilled' | 'estimate' | 'none';

/** A change of the exchange that has no row of its own. */
export interface LostRow {
  readonly stream: EventStreamName;
  readonly eventId: string;
  /** Unix microseconds. */
  readonly at: number;
  readonly explanation: Explanation;
  readonly text: string;
}

/** A row that is no change of the exchange, or a second one of it. */
export type SurplusRow = Omit<LostRow, 'explanation'>;

export interface Gap {
  readonly stream: string;
  readonly event: string;
  /** Unix microseconds. */
  readonly begins: number;
  readonly ends: number;
  readonly cause: string;
}

export interface Accounts {
  readonly changes: number;
  readonly lost: readonly LostRow[];
  readonly surplus: readonly SurplusRow[];
  readonly gaps: readonly Gap[];
  /** What `feed_loss_estimate` says of the order book: most changes that may have been lost unnoticed. */
  readonly maxUnnoticed: number;
}

interface Row {
  readonly event: string;
  readonly key: string;
  readonly at: number;
}

/** A payload that could not be read was received soon after its change. */
const DEAD_LETTER_MICROS = 10_000_000;

/** Compares the prices and chances in ClickHouse with the changes of the exchange since a time. */
export async function account(stage: FaultStage, since: number): Promise<Accounts> {
  const ids = new Set(stage.market.events.map(({ eventId }) => eventId));
  const truth = (await stage.rig.truthPrices()).filter(({ eventId }) => ids.has(eventId));
  const gaps = await stage.rig.rows<Gap>(`
    SELECT stream, event, toUnixTimestamp64Micro(begins_at) AS begins, toUnixTimestamp64Micro(ends_at) AS ends, cause
    FROM gaps`);
  const orderBook = await ofOrderBook(stage, truth, gaps, since);
  const chance = await ofChance(stage, truth, gaps, since);
  const [estimate] = await stage.rig.rows<{ most: number }>(
    "SELECT sum(changes * upper / (1 - upper)) AS most FROM feed_loss_estimate WHERE stream = 'order-book' AND upper < 1",
  );
  return {
    changes: orderBook.changes + chance.changes,
    lost: [...orderBook.lost, ...chance.lost],
    surplus: [...orderBook.surplus, ...chance.surplus],
    gaps,
    maxUnnoticed: estimate?.most ?? 0,
  };
}

type StreamAccounts = Pick<Accounts, 'changes' | 'lost' | 'surplus'>;

async function ofOrderBook(
  stage: FaultStage,
  truth: readonly PriceChange[],
  gaps: readonly Gap[],
  since: number,
): Promise<StreamAccounts> {
  const rows = await stage.rig.rows<Row>(`
    SELECT event, concat(market, ' ', toString(last), ' ', toString(ifNull(bid, 0)), ' ', toString(ifNull(ask, 1))) AS key,
      toUnixTimestamp64Micro(received_at) AS at
    FROM price_ticks WHERE source = 'delta' AND NOT repeated ORDER BY received_at, _offset, _index`);
  const changes = truth.map(({ marketId, c, b, a, ...change }) => ({ ...change, key: `${marketId} ${c} ${b} ${a}` }));
  const { lost, surplus } = match(changes, rows);
  const isUnreadable = await deadLetters(stage, 'order-book');
  const explain = (change: (typeof lost)[number]): Explanation => {
    if (isInGap(gaps, 'order-book', change)) return 'gap';
    return isUnreadable(change) ? 'dead letter' : 'estimate';
  };
  return accountsOf({ stream: 'order-book', since, changes, lost, surplus, explain });
}

async function ofChance(
  stage: FaultStage,
  truth: readonly PriceChange[],
  gaps: readonly Gap[],
  since: number,
): Promise<StreamAccounts> {
  const rows = await stage.rig.rows<Row>(`
    SELECT event, concat(market, ' ', toString(chance)) AS key, toUnixTimestamp64Micro(received_at) AS at
    FROM chance_points WHERE source = 'change' AND NOT repeated ORDER BY received_at, _offset, _index`);
  const known = await stage.rig.rows<{ market: string; second: number; chance: number }>(
    'SELECT market, toUnixTimestamp(occurred_at) AS second, chance FROM chance_backfills',
  );
  const backfills = new Map(known.map(({ market, second, chance }) => [`${market} ${second}`, chance]));
  const latest = new Map<string, number>();
  const ofSecond = new Map<string, number>();
  const changes = truth.filter(({ marketId, c, at }) => {
    ofSecond.set(`${marketId} ${Math.floor(at / 1e6)}`, c);
    if ((latest.get(marketId) ?? OPENING_CHANCE) === c) return false;
    latest.set(marketId, c);
    return true;
  });
  const keyed = changes.map((change) => ({ ...change, key: `${change.marketId} ${change.c}` }));
  const { lost, surplus } = match(keyed, rows);
  const isUnreadable = await deadLetters(stage, 'chance');
  const explain = (change: (typeof lost)[number]): Explanation => {
    const second = `${change.marketId} ${Math.floor(change.at / 1e6)}`;
    // History has the last chance of each second.
    if (backfills.has(second) && backfills.get(second) === ofSecond.get(second)) return 'backfilled';
    if (isInGap(gaps, 'chance', change)) return 'gap';
    return isUnreadable(change) ? 'dead letter' : 'none';
  };
  return accountsOf({ stream: 'chance', since, changes: keyed, lost, surplus, explain });
}

function accountsOf<C extends { eventId: string; at: number; key: string }>({
  stream,
  since,
  ...found
}: {
  readonly stream: EventStreamName;
  readonly since: number;
  readonly changes: readonly C[];
  readonly lost: readonly C[];
  readonly surplus: readonly Row[];
  readonly explain: (change: C) => Explanation;
}): StreamAccounts {
  const isCounted = ({ at }: { at: number }) => at >= since;
  return {
    changes: found.changes.filter(isCounted).length,
    lost: found.lost.filter(isCounted).map((change) => {
      const { eventId, at, key: text } = change;
      return { stream, eventId, at, text, explanation: found.explain(change) };
    }),
    surplus: found.surplus
      .filter(isCounted)
      .map(({ event: eventId, at, key: text }) => ({ stream, eventId, at, text })),
  };
}

const isInGap = (gaps: readonly Gap[], stream: string, { eventId, at }: { eventId: string; at: number }): boolean =>
  gaps.some(
    (gap) =>
      gap.stream === stream &&
      gap.event === eventId &&
      at >= gap.begins - CLOCKS_MICROS &&
      at <= gap.ends + CLOCKS_MICROS,
  );

/** Whether a frame about the event was received soon after the change and could not be read; each counts once. */
async function deadLetters(stage: FaultStage, stream: EventStreamName) {
  const letters = await stage.rig.rows<{ body: string; at: number }>(`
    SELECT body, toUnixTimestamp64Micro(received_at) AS at FROM raw_records
    WHERE kind = '${stream}.frame' AND (_log, _partition, _offset) IN (
      SELECT _log, _partition, _offset FROM dead_letters WHERE kind = '${stream}.frame')`);
  const used = new Set<object>();
  return ({ eventId, at }: { eventId: string; at: number }): boolean => {
    const letter = letters.find(
      (each) =>
        !used.has(each) &&
        each.at >= at - CLOCKS_MICROS &&
        each.at <= at + DEAD_LETTER_MICROS &&
        each.body.includes(eventId),
    );
    if (letter) used.add(letter);
    return letter !== undefined;
  };
}
