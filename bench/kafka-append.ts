import { randomUUID } from 'node:crypto';
import { openKafkaBus } from '../bus/index.js';
import { Broker } from '../test/kafka/broker.js';
import type { BenchFigure } from './bench.js';
import { busFigures } from './bus-figures.js';

/** The bus on Kafka alone (`busFigures`): a broker on this machine, or the cluster that KAFKA_BROKERS names. */
export async function benchKafkaAppend(quick: boolean): Promise<BenchFigure[]> {
  const running = process.env['KAFKA_BROKERS']?.split(',');
  const broker = running ? undefined : await Broker.start();
  const brokers = running ?? [broker?.address ?? ''];
  const bus = openKafkaBus({ brokers, prefix: `bench-${randomUUID().slice(0, 8)}.` });
  try {
    return await busFigures(bus, 'Kafka', { records: quick ? 50_000 : 1_000_000, trickle: quick ? 50 : 300 });
  } finally {
    await bus.close();
    await broker?.remove();
  }
}
