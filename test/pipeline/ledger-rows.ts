/** A record on the bus. */
export interface Envelope {
  readonly kind: string;
  readonly sid: string;
  readonly n: number;
  /** Unix microseconds. */
  readonly at: number;
  readonly req: Readonly<Record<string, unknown>>;
  readonly enc?: string;
  readonly piece?: { readonly i: number; readonly of: number };
  readonly body: unknown;
}

export interface Position {
  readonly topic: string;
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
}

/** Of rows with the same ID, which a table stores once, the one with the latest time of receipt is expected. */
export interface Version {
  readonly id: string;
  readonly receivedAt: number;
}

export type AddRow = (table: string, row: string, version?: Version) => void;

/** The expected row of a record or of a piece. */
export function addRaw({ topic, log, partition, offset }: Position, { sid, n, kind }: Envelope, add: AddRow): void {
  add('raw_records', `${topic}/${log}/${partition}/${offset} ${sid} ${n} ${kind}`);
}

/** The expected rows of a record's complete body. */
export function addRows(position: Position, record: Envelope, add: AddRow): void {
  const { topic, log, partition, offset } = position;
  const { kind } = record;
  const at = `${log}/${partition}/${offset}`;
  const indexes = new Map<string, number>();
  const addNext: AddRow = (table, says, version) => {
    const index = indexes.get(table) ?? 0;
    indexes.set(table, index + 1);
    add(table, `${at}/${index} ${says}`, version);
  };
  const deadLetter = () => {
    const index = indexes.get('dead_letters') ?? 0;
    indexes.set('dead_letters', index + 1);
    add('dead_letters', `${topic}/${at}/${index}`);
  };
  const status = Number(record.req['status'] ?? 200);
  const isWhole = record.req['cut'] === undefined;
  if (isWhole && status >= 200 && status < 300) ROWS[kind]?.(record, addNext, deadLetter, add);
}

type KindRows = (record: Envelope, addNext: AddRow, deadLetter: () => void, add: AddRow) => void;

const ROWS: Readonly<Record<string, KindRows>> = {
  'order-book.frame': (record, addNext, deadLetter) => {
    const frame = record.body as { t?: string; d?: unknown };
    if (frame.t === 'STRANGE' || record.enc !== undefined) return deadLetter();
    if (frame.t !== 'PRICES_DATA' && frame.t !== 'PRICES_DATA_DELTA') return;
    const source = frame.t === 'PRICES_DATA' ? 'snapshot' : 'delta';
    const repeated = new Set((record.req['repeated'] as number[] | undefined) ?? []);
    let valid = 0;
    for (const { o, c, b, a } of frame.d as { o: string; c: number; b: number; a: number }[]) {
      if (typeof c !== 'number') {
        deadLetter();
        continue;
      }
      const says = `${o} ${c} ${side(b)} ${side(a)} ${source} ${repeated.has(valid)}`;
      addNext('price_ticks', `${says} ${Math.floor(record.at / 1000)}`);
      valid += 1;
    }
  },
  'chance.frame': ({ body, req, at }, addNext, _, add) => {
    const frame = body as { t?: string; d?: unknown; e?: string; o?: string[] };
    if (frame.t === 'HISTORY_RESPONSE') {
      const period = req['period'] ?? (req['from'] === undefined ? '' : 'raw');
      for (const [market, points] of Object.entries(frame.d as Record<string, Point[]>)) {
        for (const { t, p } of observed(points, req)) {
          const id = `${frame.e} ${market} ${period} ${t}`;
          add('chance_history_points', `${id} ${p}`, { id, receivedAt: at });
        }
      }
      return;
    }
    if (frame.t !== 'probability' && frame.t !== 'UPDATE_HISTORY') return;
    const data = frame.d as Point | Record<string, Point>;
    const one = typeof data.p === 'number';
    const points = one ? [[frame.o?.[0], data] as const] : Object.entries(data);
    const source = frame.t === 'UPDATE_HISTORY' ? 'aggregate' : one ? 'change' : 'last-known';
    const repeated = new Set((req['repeated'] as number[] | undefined) ?? []);
    for (const [number, [market, point]] of points.entries()) {
      const { t, p } = point as Point;
      addNext('chance_points', `${market} ${t} ${p} ${source} ${repeated.has(number)}`);
    }
  },
  'chance.history': ({ body, req, at }, _, __, add) => {
    for (const { t, p } of observed(body as Point[], req)) {
      const id = `${req['event']} ${req['market']} ${req['period'] ?? 'raw'} ${t}`;
      add('chance_history_points', `${id} ${p}`, { id, receivedAt: at });
    }
  },
  'reference.events': (record, addNext) => {
    const addEntry = listings(record, addNext);
    const { content } = record.body as { content: { id: string; outcomes: { marketId: string }[] }[] };
    for (const { id, outcomes } of content) {
      addEntry('event_observations', id);
      for (const { marketId } of outcomes) addEntry('market_observations', marketId);
    }
  },
  'account.balance-frame': ({ body, req }, addNext) => {
    const { a, b, f } = body as { a: string; b: number; f: number };
    addNext('balance_updates', `${req['account']} ${a} ${b} ${f}`);
  },
  'account.trades': ({ body, req }, addNext, deadLetter, add) => {
    const trades = body as Trade[];
    const bad = trades.filter(({ q }) => typeof q !== 'number');
    for (const _ of bad) deadLetter();
    for (const { i, q, p } of trades)
      if (typeof q === 'number') add('trade_records', `${req['account']} ${i} ${q} ${p}`);
    addNext('account_pages', `${req['operation']} ${trades.length - bad.length} ${bad.length}`);
  },
  'account.activity': ({ body, req }, addNext, _, add) => {
    const items = body as { tra: string; q: number; pr: number }[];
    for (const { tra, q, pr } of items) add('activity_records', `${tra} ${q} ${pr}`);
    addNext('account_pages', `${req['operation']} ${items.length} 0`);
  },
  'reference.categories': (record, addNext) => addCategories(record.body as Category[], listings(record, addNext)),
  'reference.tags': (record, addNext) => {
    const addEntry = listings(record, addNext);
    for (const { n } of record.body as { n: string }[]) addEntry('tag_observations', n);
  },
  'reference.coins': (record, addNext) => {
    const addEntry = listings(record, addNext);
    for (const { i } of record.body as { i: string }[]) addEntry('coin_observations', i);
  },
  'collector.event': ({ body, sid, n, at }, addNext) => {
    const event = body as { type: string; pollId: string; outcome: string; receivedItems: number };
    if (event.type === 'audited') return addAudit(body as Audit, at, addNext);
    if (event.type === 'poll') addNext('polls', `${event.pollId} ${event.outcome} ${event.receivedItems}`);
    else addNext('collector_events', `${event.type} ${sid} ${n} ${at}`);
  },
};

interface Prices {
  readonly last: number;
  readonly bid: number;
  readonly ask: number;
}

interface Audit {
  readonly event: string;
  readonly reason: string;
  readonly compared: number;
  readonly changed: number;
  readonly missed: number;
  readonly mismatches: readonly { readonly market: string; readonly ours: Prices; readonly theirs: Prices }[];
}

interface Trade {
  readonly i: string;
  readonly q: number | string;
  readonly p: number;
}

interface Point {
  readonly t: number;
  readonly p: number;
}

interface Category {
  readonly i: string;
  readonly sc?: readonly Category[];
}

/** A side of the book; 0 and 1 mean that it is empty. */
const side = (price: number): number | null => (price === 0 || price === 1 ? null : price);

function addAudit(audit: Audit, at: number, addNext: AddRow): void {
  const { event, reason, compared, changed, missed, mismatches } = audit;
  addNext('audits', `${event} ${at} ${reason} ${compared} ${changed} ${missed} ${mismatches.length}`);
  for (const { market, ours, theirs } of mismatches) {
    const prices = [ours, theirs].map(({ last, bid, ask }) => `${last} ${side(bid)} ${side(ask)}`);
    addNext('audit_mismatches', `${event} ${market} ${prices.join(' ')}`);
  }
}

/** Without the anchor, if there is one, and without a flat line. */
function observed(points: readonly Point[], { from, to }: Envelope['req']): readonly Point[] {
  const [first, second] = points;
  if (first && from !== undefined && to !== undefined && first.t > Number(from) && first.t < Number(to)) return points;
  if (points.length === 2 && first?.p === second?.p && (to === undefined || (second?.t ?? 0) >= Number(to))) return [];
  return points.slice(1);
}

function addCategories(categories: readonly Category[], addEntry: (table: string, key: string) => void): void {
  for (const { i, sc } of categories) {
    addEntry('category_observations', i);
    addCategories(sc ?? [], addEntry);
  }
}

interface Unchanged {
  readonly since: number;
  readonly from: number;
  readonly to: number;
}

/** Adds the entries of a list in their order: of unchanged ones only the last counts. */
function listings({ req, at }: Envelope, addNext: AddRow): (table: string, key: string) => void {
  const unchanged = (req['unchanged'] as readonly Unchanged[] | undefined) ?? [];
  let number = 0;
  return (table, key) => {
    const marked = unchanged.find(({ from, to }) => from <= number && number <= to);
    const [since, entry] = marked ? [marked.since, 0] : [at, number + 1];
    number += 1;
    addNext(table, `${key} ${since} ${entry}`, { id: `${key} ${since} ${entry}`, receivedAt: at });
  };
}
