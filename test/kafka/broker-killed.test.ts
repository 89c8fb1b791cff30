import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { priceRecord } from '../transforms/support.js';
import { describeWithKafka } from './index.js';
import { useWorkerRigs } from './worker-rigs.js';

describeWithKafka('workers on a Kafka whose broker is killed', { own: true }, (kafka) => {
  const { newRig, rigOn } = useWorkerRigs(kafka);

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
