import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { botsOf } from '../cli/service/bots.js';
import { collectorOptions } from '../cli/service/service-options.js';
import { Collector } from '../collectors/index.js';
import { startExchange } from '../exchange/index.js';
import type { BenchFigure } from './bench.js';
import { WarehouseRig } from './warehouse-rig.js';

export const PACE = 50;
export const SECONDS = 60;
const QUICK_SECONDS = 5;

interface Size {
  readonly rows: number;
  readonly bytes: number;
}

/** Disk space in ClickHouse, after all merges, of the simulated exchange's trading: bots, collector, worker, tables. */
export async function benchStorage(quick: boolean): Promise<BenchFigure[]> {
  const signal = new AbortController().signal;
  const rig = new WarehouseRig();
  const exchange = await startExchange({ port: 0, pace: PACE }, { signal, log: rig.log });
  const bots = botsOf(exchange, rig.log);
  try {
    await bots?.start();
    await rig.start();
    const bus = await rig.openBus('trading');
    const settings = { ...rig.settings, exchangeUrl: exchange.ready.url };
    const collector = new Collector({ ...collectorOptions(settings), bus, log: rig.log, metrics: new Registry() });
    const worker = rig.worker(bus);
    await worker.start(signal);
    await collector.start(signal);
    await sleep(1000 * (quick ? QUICK_SECONDS : SECONDS));
    await collector.stop();
    while ((await waiting(bus, settings.group)) > 0) await sleep(20);
    await worker.stop();
    await bus.close();
    return await sizes(rig);
  } finally {
    await rig.close();
    await bots?.stop();
    await exchange.close();
  }
}

async function waiting(bus: Awaited<ReturnType<WarehouseRig['openBus']>>, group: string): Promise<number> {
  const committed = await bus.committed(group);
  const partitions = await bus.partitions();
  return partitions.filter(({ topic, partition, begin, end }) => {
    const done = committed.find((c) => c.topic === topic && c.partition === partition)?.offset ?? begin;
    return done < end;
  }).length;
}

async function sizes(rig: WarehouseRig): Promise<BenchFigure[]> {
  const { connection, settings } = rig;
  for (const table of ['price_ticks', 'chance_points', 'raw_records']) {
    await connection.command(`OPTIMIZE TABLE ${settings.database}.${table} FINAL`);
  }
  const size = async (table: string): Promise<Size> => {
    const [row] = await connection.query<Size>(
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
       WHERE database = {database:String} AND table = {table:String} AND active`,
      { database: settings.database, table },
    );
    return row ?? { rows: 0, bytes: 0 };
  };
  const [ticks, chances, raw] = [await size('price_ticks'), await size('chance_points'), await size('raw_records')];
  const per = ({ rows, bytes }: Size) => Math.round((100 * bytes) / Math.max(1, rows)) / 100;
  return [
    { name: 'ticks recorded', value: ticks.rows, unit: 'ticks', better: 'neither' },
    { name: 'price_ticks, size on disk', value: per(ticks), unit: 'bytes/tick' },
    { name: 'chance_points, size on disk', value: per(chances), unit: 'bytes/point' },
    { name: 'raw_records with bodies, size on disk', value: per(raw), unit: 'bytes/record' },
  ];
}
