import { platform } from 'node:process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { peakBytes } from '../../bench/process-usage.js';
import { partitionOf } from '../../bus/key-hash.js';
import { encodeEnvelope, type RecordKind, TOPICS } from '../../core/index.js';
import { Rig } from '../pipeline/rig.js';
import { until } from '../support/until.js';

/** What docker-compose.yml gives a worker, less what the system may need. */
const LIMIT_BYTES = 0.95 * 1024 ** 3;
const PARTITIONS = 2;
const PIECE_LENGTH = 1_200_000;
const BODY_BYTES = 36e6;
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

/** A key on each partition. */
const KEYS = Array.from({ length: PARTITIONS }, (_, partition) => {
  for (let i = 0; ; i++) if (partitionOf(`key-${i}`, PARTITIONS) === partition) return `key-${i}`;
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

/** The records of a body of this length, which is not understood. */
function* pieces(kind: RecordKind, session: string, sequence: number, length: number): Generator<Buffer> {
  const text = JSON.stringify({ t: 'NEWS', pad: 'x'.repeat(length) });
  const of = Math.ceil(text.length / PIECE_LENGTH);
  for (let i = 0; i < of; i++) {
    const part = text.slice(i * PIECE_LENGTH, (i + 1) * PIECE_LENGTH);
    yield record(kind, session, sequence, JSON.stringify(part), { i, of });
  }
}

async function rig(): Promise<Rig> {
  const it = new Rig();
  onTestFinished(() => it.close());
  for (const topic of Object.values(TOPICS)) {
    await it.bus.ensureTopic(topic, { partitions: PARTITIONS, retentionMs: null, retentionBytes: null });
  }
  return it;
}

describe('the memory of a worker', () => {
  it('stays below the limit of docker-compose.yml with a body of 36 MB on every partition', async ({ skip }) => {
    if (platform !== 'linux') skip('the peak is read from /proc');
    const it = await rig();
    for (const [topic, kind] of SOURCES) {
      for (const key of KEYS) {
        for (const value of pieces(kind, `${kind}-${key}`, 1, BODY_BYTES)) await it.bus.append(topic, [{ key, value }]);
      }
    }
    await it.start('warehouse');
    vi.stubEnv('NODE_OPTIONS', HEAP);
    onTestFinished(() => void vi.unstubAllEnvs());
    const worker = await it.start('transform');
    await it.drained();
    const bodies = SOURCES.length * KEYS.length;
    expect(await it.value('SELECT count() FROM dead_letters')).toBe(bodies);
    expect(await it.value("SELECT countIf(reason LIKE '%pieces%') FROM dead_letters")).toBe(0);
    expect(await it.value('SELECT sum(body_bytes) FROM raw_records')).toBeGreaterThan(bodies * BODY_BYTES);
    expect(peakBytes(worker.pid)).toBeLessThan(LIMIT_BYTES);
  });

  it('stays below it with a flood of dead letters, of which the first 1,000 in a batch have a payload', async ({
    skip,
  }) => {
    if (platform !== 'linux') skip('the peak is read from /proc');
    const it = await rig();
    const pad = 'x'.repeat(6000);
    const each = 4000;
    for (const [topic, kind] of SOURCES) {
      for (const key of KEYS) {
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
    const letters = SOURCES.length * KEYS.length * each;
    expect(await it.value('SELECT count() FROM dead_letters')).toBe(letters);
    const kept = await it.value<number>("SELECT countIf(payload != '') FROM dead_letters");
    expect(kept).toBeGreaterThanOrEqual(1000 * SOURCES.length * KEYS.length);
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
