import type { Bus } from '../../bus/index.js';

/** What the records of a topic must have become, worked out here with nothing but JSON.parse. */
export interface Expected {
  /** `topic/partition/offset` of every record that is not a repeat of an earlier one. */
  readonly places: Set<string>;
  /** `partition/offset/index market last bid ask source` of every price entry. */
  readonly ticks: Set<string>;
  /** `partition/offset/index market chance` of every live chance point. */
  readonly chances: Set<string>;
  /** Records that a collector sent again: they must have left no rows. */
  readonly repeats: number;
}

interface Envelope {
  kind: string;
  sid: string;
  n: number;
  piece?: { i: number };
  body: Frame;
}
interface Frame {
  t?: string;
  d?: unknown;
  o?: string[];
  e?: string;
}

/** Reads the whole bus. */
export async function readLedger(bus: Bus): Promise<Expected> {
  const expected = { places: new Set<string>(), ticks: new Set<string>(), chances: new Set<string>(), repeats: 0 };
  const lastN = new Map<string, number>();
  for (const { topic, partition, begin, end } of await bus.partitions()) {
    if (end === begin) continue;
    for await (const batch of bus.read(topic, partition, begin, end - 1)) {
      for (let i = 0; i < batch.count; i++) {
        const text = batch.bytes.toString('utf8', batch.bounds[i], batch.bounds[i + 1]);
        const record = JSON.parse(text) as Envelope;
        const session = `${topic}/${partition}/${record.sid}`;
        const step = record.n + (record.piece?.i ?? 0) / 65_536;
        if (step <= (lastN.get(session) ?? 0)) {
          expected.repeats += 1;
          continue;
        }
        lastN.set(session, step);
        const offset = batch.firstOffset + i;
        expected.places.add(`${topic}/${partition}/${offset}`);
        if (record.kind === 'order-book.frame') addTicks(expected.ticks, record.body, `${partition}/${offset}`);
        if (record.kind === 'chance.frame') addChances(expected.chances, record.body, `${partition}/${offset}`);
      }
    }
  }
  return expected;
}

function addTicks(ticks: Set<string>, frame: Frame, place: string): void {
  if (frame.t !== 'PRICES_DATA' && frame.t !== 'PRICES_DATA_DELTA') return;
  const source = frame.t === 'PRICES_DATA' ? 'snapshot' : 'delta';
  const entries = frame.d as { o: string; c: number; b: number; a: number }[];
  for (const [index, { o, c, b, a }] of entries.entries()) {
    ticks.add(`${place}/${index} ${o} ${c} ${b === 0 ? null : b} ${a === 1 ? null : a} ${source}`);
  }
}

function addChances(chances: Set<string>, frame: Frame, place: string): void {
  if (frame.t !== 'probability') return;
  const data = frame.d as { t: number; p: number } | Record<string, { t: number; p: number }>;
  const points = typeof data.p === 'number' ? [[frame.o?.[0], data]] : Object.entries(data);
  for (const [market, point] of points) {
    const { t, p } = point as { t: number; p: number };
    chances.add(`${place} ${market} ${t} ${p}`);
  }
}
