import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { priceRecord } from '../transforms/support.js';
import { describeWithKafka } from './index.js';
import { useWorkerRigs } from './worker-rigs.js';

describeWithKafka('workers on a Kafka whose broker is killed', { own: true }, (kafka) => {
  const { newRig, rigOn } = useWorkerRigs(kafka);

  it('write every record into ClickHouse once while workers join and leave and the broker is killed', async () => {
    const { rig, bus } = await newRig();
    let writing = true;
    let written = 0;
    const keys = Array.from({ length: 8 }, (_, i) => `event-${i}`);
    const collector = (async () => {
      // One session per key, as one collector per shard: n grows on each partition.
      const next = new Map(keys.map((key) => [key, 0]));
      for (; writing; await delay(2)) {
        const records = keys.map((key, k) => {
          const n = (next.get(key) ?? 0) + 1;
          next.set(key, n);
          return { key, value: Buffer.from(priceRecord(n).toString().replace('-000000000001"', `-00000000000${k}"`)) };
        });
        await bus.append(TOPICS.orderBook, records);
        written += records.length;
      }
    })();
    const workers = [await rig.worker()];
    const reach = (more: number) => {
      const from = written;
      return expect.poll(() => written - from, { interval: 5 }).toBeGreaterThan(more);
    };
    await reach(500);
    workers.push(await rig.worker());
    await reach(500);
    await kafka.own.kill();
    await kafka.own.restart();
    await reach(500);
    await workers[0]?.stop();
    await reach(500);
    writing = false;
    await collector;
    await rig.drained();
    const [count] = await rig.rows<{ rows: number; positions: number; sessions: number }>(
      `SELECT count() AS rows, uniqExact(_partition, _offset) AS positions, uniqExact(session_id, sequence) AS sessions
       FROM raw_records WHERE _topic = '${TOPICS.orderBook}'`,
    );
    expect(count).toEqual({ rows: written, positions: written, sessions: written });
    expect(await rig.rows('SELECT count() AS ticks FROM price_ticks')).toEqual([{ ticks: written }]);
  });

  it('wait for a broker that is down at their start, and report it', async () => {
    const { rig, bus } = await newRig();
    const impatient = kafka.open({ prefix: bus.prefix, apiTimeoutMs: 2000, connectTimeoutMs: 500 });
    await kafka.own.kill();
    const told = new PassThrough();
    const starting = rigOn(impatient).worker({}, new Registry(), pino({ level: 'warn' }, told));
    const [line] = await once(told, 'data');
    expect(JSON.parse(line).msg).toMatch(/no broker of Kafka at .* responds: .*; retrying until it works$/);
    await kafka.own.restart();
    await starting;
    await rig.append(TOPICS.orderBook, [priceRecord(1)]);
    await rig.drained();
    expect(await rig.rows('SELECT sequence FROM raw_records')).toEqual([{ sequence: 1 }]);
  });
});
