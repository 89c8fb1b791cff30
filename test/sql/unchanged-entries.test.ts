import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeCategories, decodeCoins, decodeTags } from '../../client/index.js';
import { eventEntries } from '../../collectors/polls/event-entries.js';
import { type ListedEntry, PublishedEntries } from '../../collectors/polls/published-entries.js';
import { encodeEnvelope, Random, RECORD_KINDS, type RecordKind, type Topic } from '../../core/index.js';
import { TestDatabase } from '../support/database.js';
import { WorkerRig } from '../transforms/worker-rig.js';

const STEPS = 200;
const PAGE_SIZE = 4;
const HOUR_MICROS = 3_600_000_000;
/** Of every 40th poll, only some pages are on the bus: the collector was killed. */
const KILLS = 1 / 40;

interface ListedEvent {
  readonly id: string;
  title: string;
  volume24h: number;
  outcomes: { marketId: string; yesId: string; noId: string }[];
  readonly prices: Map<string, number>;
  listed: boolean;
}

/** Lists that change between polls: prices, titles that return, events that leave the list and return, markets that move. */
class ChangingLists {
  readonly random = new Random(20_261_125);
  readonly events: ListedEvent[] = Array.from({ length: 9 }, (_, n) => this.#event(n));
  #ranks = [1, 2, 3, 4];
  #rate = 1;

  change(): void {
    const { random } = this;
    const event = random.pick(this.events);
    const market = random.pick(event.outcomes);
    const what = random.integer(0, 11);
    if (what < 3) event.prices.set(market.marketId, random.integer(1, 99) / 100);
    if (what === 3) event.title = `Title ${random.integer(0, 2)} of ${event.id}`;
    if (what === 4) event.volume24h += random.integer(0, 5);
    if (what === 5) event.listed = !event.listed;
    if (what === 6) market.yesId = `yes-${random.integer(0, 2)}`;
    if (what === 7) this.events.push(this.#event(this.events.length));
    if (what === 8 && event.outcomes.length > 1) this.#move(event);
    if (what === 9) this.#ranks = [...this.#ranks.slice(1), random.integer(1, 9)];
    if (what === 10) this.#rate = random.integer(1, 3);
  }

  get listedEvents(): object[] {
    return this.events
      .filter(({ listed }) => listed)
      .map(({ id, title, volume24h, outcomes, prices }) => {
        const ma = outcomes.map(({ marketId, yesId, noId }) => {
          const p = prices.get(marketId) ?? 0.5;
          return {
            i: marketId,
            r: [
              { i: yesId, ip: true, p },
              { i: noId, ip: false, p: 1 - p },
            ],
          };
        });
        return { id, title, volume24h, outcomes, ma };
      });
  }

  get categories(): object[] {
    const sc = this.#ranks.map((rank) => ({ i: `child-${rank}`, n: `Child ${this.#rate}` }));
    return [{ i: 'parent', n: 'Parent', sc }];
  }

  get tags(): object[] {
    return this.#ranks.map((rank, n) => ({ n: `tag-${rank}`, r: n }));
  }

  get coins(): object[] {
    return ['USDC', 'ETH'].map((i) => ({ i, n: i, ur: i === 'ETH' ? this.#rate : 1 }));
  }

  #move(event: ListedEvent): void {
    const [moved] = event.outcomes.splice(0, 1);
    if (moved) this.random.pick(this.events).outcomes.push(moved);
  }

  #event(n: number): ListedEvent {
    const market = (m: number) => ({ marketId: `market-${n}-${m}`, yesId: `yes-${n}-${m}`, noId: `no-${n}-${m}` });
    const outcomes = Array.from({ length: 1 + (n % 3) }, (_, m) => market(m));
    return {
      id: `event-${n}`,
      title: `Title 0 of event-${n}`,
      volume24h: 0,
      outcomes,
      prices: new Map(),
      listed: true,
    };
  }
}

interface Response {
  readonly kind: RecordKind;
  readonly operation: string;
  readonly at: number;
  readonly poll: string;
  readonly page: number;
  readonly body: unknown;
  readonly entries: readonly ListedEntry[];
}

/** The records that collectors publish, with and without the field `unchanged`. */
class Publications {
  readonly marked = new Map<Topic, Buffer[]>();
  readonly unmarked = new Map<Topic, Buffer[]>();
  /** Per response of a list: its time, its session, and how many of its entries are marked. */
  readonly responses: { kind: string; at: number; session: string; entries: number; unchanged: number }[] = [];
  #session = '';
  #published = new PublishedEntries();
  #sequences = new Map<Topic, number>();

  begin(at: number): void {
    this.#session = randomUUID();
    this.#published = new PublishedEntries();
    this.#sequences = new Map();
    this.event(at, { type: 'session-started', collector: 'test', version: '0', shard: '1/1' });
  }

  event(at: number, body: object): void {
    this.#add('collector.event', at, JSON.stringify(body), {});
  }

  response({ kind, operation, at, poll, page, body, entries }: Response): void {
    const unchanged = this.#published.add(kind, at, entries);
    const request = { operation, method: 'GET', path: '/', status: 200, attempt: 0, page, poll };
    this.#add(kind, at, JSON.stringify(body), request, unchanged.length > 0 ? { unchanged } : {});
    // An entry may be listed twice.
    const earlier = unchanged.filter(({ since }) => since < at);
    const count = earlier.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    this.responses.push({ kind, at, session: this.#session, entries: entries.length, unchanged: count });
  }

  #add(kind: RecordKind, receivedAt: number, bodyJson: string, request: object, asBefore: object = {}): void {
    const topic = RECORD_KINDS[kind];
    const sequence = (this.#sequences.get(topic) ?? 0) + 1;
    this.#sequences.set(topic, sequence);
    const fields = { kind, sessionId: this.#session, sequence, receivedAt, bodyJson };
    for (const [records, more] of [[this.marked, asBefore] as const, [this.unmarked, {}] as const]) {
      const value = Buffer.from(encodeEnvelope({ ...fields, requestJson: JSON.stringify({ ...request, ...more }) }));
      records.set(topic, [...(records.get(topic) ?? []), value]);
    }
  }
}

const itemsOf = <Item>(list: { ok: true; items: readonly Item[] } | { ok: false }) => (list.ok ? list.items : []);

/** Polls of lists over about half a day, which ends a minute ago. */
function recordPolls(): Publications {
  const lists = new ChangingLists();
  const { random } = lists;
  const to = new Publications();
  let at = Date.now() * 1000 - STEPS * 110_000_000;
  const wait = (seconds: number) => {
    at += Math.round(seconds * 1e6) + random.integer(0, 1000);
  };
  to.begin(at);
  for (let step = 0; step < STEPS; step++) {
    wait(random.integer(0, 20) === 0 ? 1800 : 10);
    for (let n = random.integer(0, 3); n > 0; n--) lists.change();
    const killed = random.next() < KILLS;
    const [poll, startedAt, events] = [randomUUID(), at, lists.listedEvents];
    const pages = Math.max(1, Math.ceil(events.length / PAGE_SIZE));
    for (let page = 0; page < (killed ? random.integer(0, pages) : pages); page++) {
      wait(0.1);
      // A list that changes while it is read.
      if (random.integer(0, 9) === 0) lists.change();
      const content = events.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
      const body = { content, totalElements: events.length, totalPages: pages };
      to.response({
        kind: 'reference.events',
        operation: 'event-search',
        at,
        poll,
        page,
        body,
        entries: eventEntries(body),
      });
    }
    if (killed) {
      wait(30);
      to.begin(at);
      continue;
    }
    const receipt = { type: 'poll', pollId: poll, operation: 'event-search', subject: 'all', startedAt };
    const counts = { receivedItems: events.length, distinctItems: events.length, expectedItems: events.length };
    to.event(at, { ...receipt, ...counts, pages, truncated: false, outcome: 'complete', cause: '' });
    const { categories, tags, coins } = lists;
    const keyed = <Item>(items: readonly Item[], keyOf: (item: Item) => string) =>
      items.map((item) => ({ key: keyOf(item), content: item }));
    for (const [kind, operation, body, entries] of [
      [
        'reference.categories',
        'categories',
        categories,
        keyed(itemsOf(decodeCategories(categories)), (c) => c.categoryId),
      ],
      ['reference.tags', 'popular-tags', tags, keyed(itemsOf(decodeTags(tags)), (t) => t.name)],
      ['reference.coins', 'coins', coins, keyed(itemsOf(decodeCoins(coins)), (c) => c.coinId)],
    ] as const) {
      wait(0.01);
      to.response({ kind, operation, at, poll: randomUUID(), page: 0, body, entries });
    }
  }
  return to;
}

describe('lists whose unchanged entries are marked', () => {
  const views = [...readdirSync('sql/views/reference').map((file) => file.replace('.sql', '')), 'event_lifetimes'];
  const tables = ['event', 'market', 'category', 'tag', 'coin'].map((name) => `${name}_observations`);
  const rigs: WorkerRig[] = [];
  const databases: TestDatabase[] = [];
  let publications: Publications;

  beforeAll(async () => {
    publications = recordPolls();
    const write = async (records: ReadonlyMap<Topic, readonly Buffer[]>) => {
      const database = await TestDatabase.create({ migrated: true });
      databases.push(database);
      const rig = new WorkerRig(database.owner, database.name);
      await rig.prepare();
      for (const [topic, values] of records) await rig.append(topic, values);
      const stopped = await rig.worker({ batchRows: 1000 });
      await stopped.stop();
      await rig.worker({ batchRows: 1000 });
      await rig.drained();
      return rig;
    };
    rigs.push(...(await Promise.all([publications.marked, publications.unmarked].map(write))));
  });

  afterAll(async () => {
    for (const rig of rigs) await rig.close();
    for (const database of databases) await database.end();
  });

  /** The rows of a view, without the present time. */
  const answers = async (view: string) => {
    const more = view === 'event_lifetimes' ? " REPLACE (if(open, toDateTime64(0, 6, 'UTC'), open_to) AS open_to)" : '';
    return Promise.all(rigs.map((rig) => rig.rows(`SELECT *${more} FROM ${view} ORDER BY ALL`)));
  };
  const counts = async (of: string) =>
    Promise.all(rigs.map(async (rig) => (await rig.rows<{ n: number }>(of))[0]?.n ?? 0));

  it('have no marks in the first poll of a session and of an hour', () => {
    const seen = new Set<string>();
    for (const { kind, at, session, unchanged } of publications.responses) {
      const first = `${kind} ${session} ${Math.floor(at / HOUR_MICROS)}`;
      if (!seen.has(first)) expect(unchanged).toBe(0);
      seen.add(first);
    }
    const [entries, marked] = publications.responses.reduce(([n, m], r) => [n + r.entries, m + r.unchanged], [0, 0]);
    expect(marked).toBeGreaterThan(entries / 2);
  });

  it.each(views)('have the same answers in %s as lists without marks', async (view) => {
    const [marked, unmarked] = await answers(view);
    expect(marked).toEqual(unmarked);
    expect(marked?.length).toBeGreaterThan(1);
  });

  it('have two rows per state and hour when parts are merged, and the same answers', async () => {
    for (const table of tables) {
      for (const rig of rigs) await rig.connection.command(`OPTIMIZE TABLE ${rig.database}.${table} FINAL`);
      const [stored = 0, received = 0] = await counts(`SELECT count() AS n FROM ${table}`);
      const [states = 0] = await counts(
        `SELECT uniqExact(cityHash64(toString(tuple(* EXCEPT (received_at, poll_id, entry, _offset, _index))))) AS n FROM ${table}`,
      );
      expect(stored).toBeLessThanOrEqual(2 * states);
      expect(stored).toBeLessThan(received);
    }
    for (const view of views) {
      const [marked, unmarked] = await answers(view);
      expect(marked).toEqual(unmarked);
    }
  });
});
