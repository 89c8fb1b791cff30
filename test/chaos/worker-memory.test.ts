import { platform } from 'node:process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { anonymousBytes, peakBytes } from '../../bench/process-usage.js';
import type { Bus, BusRecord } from '../../bus/index.js';
import { partitionOf } from '../../bus/key-hash.js';
import { encodeEnvelope, type RecordKind, TOPICS } from '../../core/index.js';
import { Rig } from '../pipeline/rig.js';
import { until } from '../support/until.js';

/** What docker-compose.yml gives a worker, less what the system may need. */
const LIMIT_BYTES = 0.95 * 1024 ** 3;
const SAMPLE_MS = 20;
const PIECE_LENGTH = 1_200_000;
const MAX_BODY_BYTES = 36e6;
const MIN_BODY_BYTES = 20e6;
/** What Node.js sets in a container of this size. */
const HEAP = '--max-old-space-size=512';
/** Recent, since old bodies are deleted. */
const RECEIVED_AT = Date.now() * 1000;

/** A topic, and a kind of record on it. */
const SOURCES = [
  [TOPICS.orderBook, 'order-book.frame'],
  [TOPICS.chance, 'chance.frame'],
  [TOPICS.reference, 'reference.events'],
] as const;

/** A key on each of the partitions. */
const keysOf = (partitions: number): string[] =>
  Array.from({ length: partitions }, (_, partition) => {
    for (let i = 0; ; i++) if (partitionOf(`key-${i}`, partitions) === partition) return `key-${i}`;
  });

function record(
  kind: RecordKind,
  sessionId: string,
  sequence: number,
  bodyJson: string,
  piece?: { i: number; of: number },
) {
  const fields = {
    kind,
    sessionId,
    sequence,
    receivedAt: RECEIVED_AT,
    requestJson: '{"stream":"order-book"}',
    bodyJson,
    piece,
  };
  return Buffer.from(encodeEnvelope(fields));
}

/** A body of this length, which is not understood, in pieces. */
class LargeBody {
  readonly #text: string;
  readonly count: number;

  constructor(
    private readonly kind: RecordKind,
    readonly key: string,
    length: number,
  ) {
    this.#text = JSON.stringify({ t: 'NEWS', pad: 'x'.repeat(length) });
    this.count = Math.ceil(this.#text.length / PIECE_LENGTH);
  }

  /** The record of a piece; none before the first. */
  piece(i: number): BusRecord[] {
    if (i < 0) return [];
    const part = this.#text.slice(i * PIECE_LENGTH, (i + 1) * PIECE_LENGTH);
    const value = record(this.kind, `${this.kind}-${this.key}`, 1, JSON.stringify(part), { i, of: this.count });
    return [{ key: this.key, value }];
  }
}

/**
 * Appends a body per partition of each topic, piece by piece in turn, so that all of them wait for pieces at the same time; the
 * last pieces of all arrive together. Returns the bytes of all bodies.
 */
async function appendLargeBodies(bus: Bus, keys: readonly string[]): Promise<number> {
  const step = (MAX_BODY_BYTES - MIN_BODY_BYTES) / (keys.length - 1);
  const lengths = keys.map((_, i) => MIN_BODY_BYTES + i * step);
  const topics = SOURCES.map(([topic, kind]) => ({
    topic,
    bodies: keys.map((key, i) => new LargeBody(kind, key, lengths[i] as number)),
  }));
  for (let left = Math.ceil(MAX_BODY_BYTES / PIECE_LENGTH) + 1; left > 0; left--) {
    for (const { topic, bodies } of topics) {
      await bus.append(
        topic,
        bodies.flatMap((body) => body.piece(body.count - left)),
      );
    }
  }
  return SOURCES.length * lengths.reduce((sum, length) => sum + length, 0);
}

/**
 * Samples the anonymous memory of a process until the test ends; returns its maximum, bytes. The peak resident memory
 * (VmHWM) also counts pages of the embedded log, which the kernel drops before a container reaches its limit.
 */
function sampleAnonymous(pid: number): () => number {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, anonymousBytes(pid));
  }, SAMPLE_MS);
  onTestFinished(() => clearInterval(timer));
  return () => peak;
}

async function rig(partitions: number): Promise<Rig> {
  const it = new Rig();
  onTestFinished(() => it.close());
  for (const topic of Object.values(TOPICS)) {
    await it.bus.ensureTopic(topic, { partitions, retentionMs: null, retentionBytes: null });
  }
  return it;
}

describe('the memory of a worker', () => {
  it('stays below the limit of docker-compose.yml while a body of 20 to 36 MB arrives on every partition', async ({
    skip,
  }) => {
    if (platform !== 'linux') skip('memory is read from /proc');
    const it = await rig(6);
    const keys = keysOf(6);
    await it.start('warehouse');
    vi.stubEnv('NODE_OPTIONS', HEAP);
    onTestFinished(() => void vi.unstubAllEnvs());
    const worker = await it.start('transform');
    const peak = sampleAnonymous(worker.pid);
    const bytes = await appendLargeBodies(it.bus, keys);
    await it.drained();
    expect(await it.value('SELECT count() FROM dead_letters')).toBe(SOURCES.length * keys.length);
    expect(await it.value("SELECT countIf(reason LIKE '%pieces%') FROM dead_letters")).toBe(0);
    expect(await it.value('SELECT sum(body_bytes) FROM raw_records')).toBeGreaterThan(bytes);
    expect(peak()).toBeLessThan(LIMIT_BYTES);
  });

  it('stays below it with a flood of dead letters, of which the first 1,000 in a batch have a payload', async ({
    skip,
  }) => {
    if (platform !== 'linux') skip('the peak is read from /proc');
    const it = await rig(2);
    const keys = keysOf(2);
    const pad = 'x'.repeat(6000);
    const each = 4000;
    for (const [topic, kind] of SOURCES) {
      for (const key of keys) {
        for (let from = 0; from < each; from += 1000) {
          const values = Array.from({ length: 1000 }, (_, i) =>
            record(kind, `${kind}-${key}`, from + i + 1, JSON.stringify({ t: 'NEWS', n: from + i, pad })),
          );
          await it.bus.append(
            topic,
            values.map((value) => ({ key, value })),
          );
        }
      }
    }
    await it.start('warehouse');
    vi.stubEnv('NODE_OPTIONS', HEAP);
    onTestFinished(() => void vi.unstubAllEnvs());
    const worker = await it.start('transform');
    await it.drained();
    const letters = SOURCES.length * keys.length * each;
    expect(await it.value('SELECT count() FROM dead_letters')).toBe(letters);
    const kept = await it.value<number>("SELECT countIf(payload != '') FROM dead_letters");
    expect(kept).toBeGreaterThanOrEqual(1000 * SOURCES.length * keys.length);
    const most = `SELECT max(payloads) FROM
      (SELECT countIf(payload != '') AS payloads FROM dead_letters GROUP BY _topic, _partition, written_at)`;
    expect(await it.value(most)).toBe(1000);
    expect(kept).toBeLessThan(letters);
    const forever = 'SELECT countIf(body_expires_at > now() + INTERVAL 50 YEAR) FROM raw_records';
    expect(await it.value(forever)).toBe(kept);
    expect(await it.value("SELECT countIf(body = '') FROM raw_records")).toBe(0);
    expect(peakBytes(worker.pid)).toBeLessThan(LIMIT_BYTES);
    await until(async () => {
      const metrics = await (
        await fetch(`${(worker as typeof worker & { ready: { health: string } }).ready.health}/metrics`)
      ).text();
      const omitted = [...metrics.matchAll(/^chancery_transform_dead_letters_without_payload_total\{.*\} (\d+)$/gm)];
      return omitted.reduce((sum, [, count]) => sum + Number(count), 0) === letters - kept;
    });
  });
});
