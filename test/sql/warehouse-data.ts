export type Values = Readonly<Record<string, unknown>>;

interface FilledDatabase {
  run(sql: string): Promise<unknown>;
  rows<T>(sql: string, as: 'reader'): Promise<T[]>;
}

/** Fills a migrated database row by row, and queries it as the reader. */
export class WarehouseData {
  #offset = 0;

  constructor(private readonly database: FilledDatabase) {}

  /** Inserts rows, each with a position of its own. Times are ISO texts in UTC. */
  async insert(table: string, rows: readonly Values[]): Promise<void> {
    const lines = rows.map((row) => {
      this.#offset += 1;
      return JSON.stringify({ _log: 'log', _partition: 0, _offset: this.#offset, _index: 0, ...row });
    });
    const settings = "SETTINGS input_format_skip_unknown_fields = 0, date_time_input_format = 'best_effort'";
    await this.database.run(`INSERT INTO ${table} ${settings} FORMAT JSONEachRow ${lines.join('\n')}`);
  }

  /** Rows of a SELECT as the reader. */
  ask<T = Record<string, unknown>>(sql: string): Promise<T[]> {
    return this.database.rows<T>(sql, 'reader');
  }
}

/** A time of the test's day, as text: seconds after `noon`. */
export function time(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 5, 12) + seconds * 1000).toISOString().replace('Z', '');
}

/** A time this many seconds ago, or before another `now` (Unix milliseconds), as text. */
export function ago(seconds: number, now = Date.now()): string {
  return new Date(now - seconds * 1000).toISOString().replace('Z', '');
}

/** A collector event of a collector's session. */
export function collectorEvent(
  session_id: string,
  sequence: number,
  recorded_at: string,
  type: string,
  fields: Values = {},
): Values {
  return { session_id, sequence, recorded_at, type, ...fields };
}

export function tick(market: string, receivedAt: string, last: number, fields: Values = {}): Values {
  return {
    market,
    event: `event of ${market}`,
    received_at: receivedAt,
    last,
    bid: last - 0.01,
    ask: last + 0.01,
    source: 'delta',
    ...fields,
  };
}

/** The receipt of a poll of event search, complete, that began at a time. */
export function searchPoll(at: string): Values {
  return {
    started_at: at,
    finished_at: at,
    session_id: 's',
    poll_id: `poll of ${at}`,
    operation: 'event-search',
    subject: 'all',
    expected_items: null,
    received_items: 1,
    distinct_items: 1,
    pages: 1,
    truncated: false,
    outcome: 'complete',
    cause: '',
  };
}

export function eventSeen(event: string, at: string, fields: Values = {}): Values {
  return { event, received_at: at, poll_id: 'p', title: `title of ${event}`, markets: [], tags: [], ...fields };
}

/** Example arguments of views, by the name of the parameter. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  period_seconds: '3600',
  price: "'chance'",
  window_seconds: '86400',
  level: "'market'",
  market: "'m'",
  margin_ms: '250',
  scope: "'all'",
  from_at: `'${ago(26 * 3600)}'`,
  to_at: `'${ago(0)}'`,
};

/**
 * Arguments for a parameterized view, by the text of its definition; empty for any other view.
 * @param given values that replace the examples, by the name of the parameter
 */
export function argumentsOf(definition: string, given: Readonly<Record<string, string>> = {}): string {
  const named = new Set([...definition.matchAll(/\{(\w+):\w+\}/g)].map(([, name = '']) => name));
  if (named.size === 0) return '';
  return `(${[...named].map((name) => `${name} = ${given[name] ?? ARGUMENTS[name] ?? ''}`).join(', ')})`;
}
