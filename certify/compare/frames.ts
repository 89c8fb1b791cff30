import type { PartitionInfo } from '../../bus/index.js';
import { TOPICS } from '../../core/index.js';
import { type Comparison, Differences } from '../comparison.js';
import type { Query } from '../recorded.js';

const NAME = 'rows of order book frames';

/** A position that has not exactly the row that its frame says. */
interface Difference {
  readonly position: string;
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** Frames of prices whose body is stored whole. */
const FRAMES = `SELECT *, JSONExtractString(body, 't') AS type FROM raw_records
  WHERE kind = 'order-book.frame' AND encoding = 'json' AND pieces = 1 AND type IN ('PRICES_DATA', 'PRICES_DATA_DELTA')`;
const POSITION = '_log, _partition, _offset';
/** A record with a dead letter has fewer rows than entries. */
const IS_WHOLE = `(${POSITION}) NOT IN (SELECT ${POSITION} FROM dead_letters)`;
/** Later records are left out: their rows in one table may be visible before those in another. */
const isProcessed = (partitions: readonly PartitionInfo[]): string => {
  const ends = partitions.filter(({ topic }) => topic === TOPICS.orderBook);
  const tuples = ends.map(({ log, partition, end }) => `('${log}', ${partition}, ${end})`);
  return `arrayExists(ends -> ends.1 = _log AND ends.2 = _partition AND _offset < ends.3, [${tuples.join(', ')}])`;
};
const COLUMNS = ['market', 'last', 'bid', 'ask', 'source', 'event'];
const textOf = (columns: readonly string[]): string =>
  `concatWithSeparator(' ', ${columns.map((column) => `ifNull(toString(${column}), 'none')`).join(', ')})`;
/** 0 and 1 mean that a side of the book is empty. */
const side = (letter: string): string => `nullIf(nullIf(JSONExtractFloat(entry, '${letter}'), 0), 1)`;

const expectedRows = (condition: string): string => `
  SELECT ${POSITION}, toUInt32(number - 1) AS _index, ${textOf([
    "JSONExtractString(entry, 'o')",
    "JSONExtractFloat(entry, 'c')",
    side('b'),
    side('a'),
    "if(type = 'PRICES_DATA', 'snapshot', 'delta')",
    "JSONExtractString(body, 'e')",
  ])} AS text
  FROM (SELECT *, JSONExtractArrayRaw(body, 'd') AS entries FROM (${FRAMES}) WHERE ${IS_WHOLE} AND ${condition})
  ARRAY JOIN entries AS entry, arrayEnumerate(entries) AS number`;
const foundRows = (condition: string): string => `
  SELECT ${POSITION}, _index, ${textOf(COLUMNS)} AS text FROM price_ticks
  WHERE ${IS_WHOLE} AND ${condition} AND (${POSITION}) NOT IN (SELECT ${POSITION} FROM raw_records WHERE pieces > 1)`;

/**
 * Compares each row of `price_ticks`, also those of states and repetitions, with the entry of its stored frame: each entry has one
 * row.
 * @param partitions with their end: every record before it was processed; later records are not compared
 */
export async function compareFrames(query: Query, partitions: readonly PartitionInfo[]): Promise<Comparison> {
  const differences = new Differences(NAME);
  const processed = isProcessed(partitions);
  const [wanted, found] = [expectedRows(processed), foundRows(processed)];
  const count = async (sql: string) =>
    (await query<{ count: number }>(`SELECT count() AS count FROM (${sql})`))[0]?.count ?? 0;
  const wrong = await query<Difference>(`
    SELECT concatWithSeparator('/', _log, toString(_partition), toString(_offset), toString(_index)) AS position,
      groupArrayIf(text, is_expected) AS expected, groupArrayIf(text, NOT is_expected) AS found
    FROM (SELECT *, true AS is_expected FROM (${wanted}) UNION ALL SELECT *, false AS is_expected FROM (${found}))
    GROUP BY ${POSITION}, _index
    HAVING expected != found
    ORDER BY ${POSITION}, _index`);
  for (const { position, ...texts } of wrong) {
    const [one, other] = [texts.expected, texts.found].map((rows) => rows.join(' and ') || 'no row');
    differences.add(`${position}: expected ${one}, found ${other}`);
  }
  const unread = await count(`SELECT DISTINCT ${POSITION} FROM (${FRAMES}) WHERE NOT (${IS_WHOLE}) AND ${processed}`);
  if (unread > 0) differences.explain('frame with a dead letter', unread);
  return differences.result((await count(wanted)) + unread, await count(found));
}
