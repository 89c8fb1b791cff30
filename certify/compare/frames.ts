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
const IN_FULL = `(${POSITION}) NOT IN (SELECT ${POSITION} FROM dead_letters)`;
const COLUMNS = ['market', 'last', 'bid', 'ask', 'source', 'event'];
const textOf = (columns: readonly string[]): string =>
  `concatWithSeparator(' ', ${columns.map((column) => `ifNull(toString(${column}), 'none')`).join(', ')})`;
/** 0 and 1 mean that a side of the book is empty. */
const side = (letter: string): string => `nullIf(nullIf(JSONExtractFloat(entry, '${letter}'), 0), 1)`;

const EXPECTED = `
  SELECT ${POSITION}, toUInt32(number - 1) AS _index, ${textOf([
    "JSONExtractString(entry, 'o')",
    "JSONExtractFloat(entry, 'c')",
    side('b'),
    side('a'),
    "if(type = 'PRICES_DATA', 'snapshot', 'delta')",
    "JSONExtractString(body, 'e')",
  ])} AS text
  FROM (SELECT *, JSONExtractArrayRaw(body, 'd') AS entries FROM (${FRAMES}) WHERE ${IN_FULL})
  ARRAY JOIN entries AS entry, arrayEnumerate(entries) AS number`;
const FOUND = `SELECT ${POSITION}, _index, ${textOf(COLUMNS)} AS text FROM price_ticks
  WHERE ${IN_FULL} AND (${POSITION}) NOT IN (SELECT ${POSITION} FROM raw_records WHERE pieces > 1)`;

/** Compares each row of `price_ticks`, also those of states and repetitions, with the entry of its stored frame: each entry has one row. */
export async function compareFrames(query: Query): Promise<Comparison> {
  const differences = new Differences(NAME);
  const count = async (sql: string) =>
    (await query<{ count: number }>(`SELECT count() AS count FROM (${sql})`))[0]?.count ?? 0;
  const wrong = await query<Difference>(`
    SELECT concatWithSeparator('/', _log, toString(_partition), toString(_offset), toString(_index)) AS position,
      groupArrayIf(text, is_expected) AS expected, groupArrayIf(text, NOT is_expected) AS found
    FROM (SELECT *, true AS is_expected FROM (${EXPECTED}) UNION ALL SELECT *, false AS is_expected FROM (${FOUND}))
    GROUP BY ${POSITION}, _index
    HAVING expected != found
    ORDER BY ${POSITION}, _index`);
  for (const { position, expected, found } of wrong) {
    const [wanted, here] = [expected.join(' and ') || 'no row', found.join(' and ') || 'no row'];
    differences.add(`${position}: expected ${wanted}, found ${here}`);
  }
  const unread = await count(`SELECT DISTINCT ${POSITION} FROM (${FRAMES}) WHERE NOT (${IN_FULL})`);
  if (unread > 0) differences.explain('frame with a dead letter', unread);
  return differences.result((await count(EXPECTED)) + unread, await count(FOUND));
}
