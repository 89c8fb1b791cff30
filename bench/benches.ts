import { existsSync } from 'node:fs';
import { whyNoBroker } from '../test/kafka/jars.js';
import type { Bench } from './bench.js';
import { MEASURED } from './visible-rows.js';

/** Also of `aggregates`, which has the same loads. */
const TRANSFORM_SETTINGS = {
  fsync: true,
  protocol: 'exactly once',
  partitions: 4,
  workers: 1,
  events: 40,
  markets: 480,
  measured: MEASURED,
};

/** All benchmarks of `npm run bench`. */
export const BENCHES: readonly Bench[] = [
  {
    name: 'bus-append',
    about: 'the embedded log alone, with one producer',
    load: async () => {
      const { benchBusAppend } = await import('./bus-append.js');
      return { run: benchBusAppend, settings: { durable: true } };
    },
  },
  {
    name: 'kafka-append',
    about: 'the bus on Kafka alone, with one producer and the broker on the same machine',
    unavailable: () => (process.env['KAFKA_BROKERS'] ? undefined : whyNoBroker()),
    load: async () => {
      const { benchKafkaAppend } = await import('./kafka-append.js');
      return { run: benchKafkaAppend, settings: { acks: 'all', compression: 'none', partitions: 4 } };
    },
  },
  {
    name: 'kafka',
    about:
      'order book records in a Kafka topic until a query returns their rows, compared with ClickHouse’s own Kafka engine',
    // Each takes minutes.
    runs: 3,
    unavailable: whyNoBroker,
    load: async () => {
      const { benchKafka, PARTITIONS } = await import('./kafka.js');
      return {
        run: benchKafka,
        settings: {
          protocol: 'exactly once',
          rawBodies: false,
          partitions: PARTITIONS,
          workers: 1,
          events: 40,
          markets: 480,
          measured: MEASURED,
        },
      };
    },
  },
  {
    name: 'live',
    about: 'exchange, collector, worker and ClickHouse as separate processes: from the socket to the result of a query',
    load: async () => {
      const { benchLive, FRAMES_PER_SECOND, SECONDS } = await import('./live.js');
      return {
        run: benchLive,
        settings: {
          framesPerSecond: FRAMES_PER_SECOND,
          seconds: SECONDS,
          entriesPerFrame: 1,
          fsync: true,
          rawBodies: true,
        },
      };
    },
  },
  {
    name: 'transform',
    about: 'order book records in the embedded log until a query returns their rows',
    // Each takes minutes.
    runs: 3,
    load: async () => {
      const { benchTransform } = await import('./transform.js');
      return { run: benchTransform, settings: TRANSFORM_SETTINGS };
    },
  },
  {
    name: 'storage',
    about: 'disk space that the simulated exchange’s trading takes in ClickHouse after merges',
    load: async () => {
      const { benchStorage, PACE, SECONDS } = await import('./storage.js');
      return { run: benchStorage, settings: { pace: PACE, seconds: SECONDS, events: 40, bots: 24, rawBodies: true } };
    },
  },
  {
    name: 'trading',
    about: 'the bots, as clients in their own process, and the simulated exchange on which they trade',
    unavailable: () => (existsSync('/proc/self/stat') ? undefined : 'it needs /proc for CPU times'),
    load: async () => {
      const { benchTrading, PACES, SECONDS } = await import('./trading.js');
      return { run: benchTrading, settings: { paces: PACES.join(' and '), seconds: SECONDS, events: 40, bots: 24 } };
    },
  },
  {
    name: 'client-decode',
    about: 'the order book decoder, and the zod schemas in its place, in one thread',
    load: async () => {
      const { benchClientDecode } = await import('./client-decode.js');
      return { run: benchClientDecode, settings: {} };
    },
  },
  {
    name: 'large-frames',
    about: 'processing time of the largest frames in a collector, in one thread',
    load: async () => {
      const { benchLargeFrames } = await import('./large-frames.js');
      return { run: benchLargeFrames, settings: {} };
    },
  },
  {
    name: 'client-account',
    about: 'signing requests and decoding account records with exact numbers, in one thread',
    load: async () => {
      const { benchClientAccount } = await import('./client-account.js');
      return { run: benchClientAccount, settings: { tradesPerPage: 100 } };
    },
  },
  {
    name: 'engine',
    about: 'the exchange’s matching engine alone, in one thread',
    load: async () => {
      const { benchEngine } = await import('./engine.js');
      return { run: benchEngine, settings: { orders: 200_000, markets: 40, accounts: 24 } };
    },
  },
  {
    name: 'exchange-orders',
    about: 'signed limit orders over HTTP, with exchange and client as two processes on one machine',
    load: async () => {
      const { ACCOUNTS, benchExchangeOrders, CONNECTIONS, ORDERS } = await import('./exchange-orders.js');
      const settings = { orders: ORDERS, connections: CONNECTIONS, accounts: ACCOUNTS, durable: true };
      return { run: benchExchangeOrders, settings };
    },
  },
  {
    name: 'aggregates',
    about:
      'order book records in the embedded log until a query returns their rows, with the aggregates of ticks and without them',
    runs: 3,
    load: async () => {
      const { benchAggregates } = await import('./aggregates.js');
      return { run: benchAggregates, settings: TRANSFORM_SETTINGS };
    },
  },
  {
    name: 'viewer',
    about: 'the pages of the viewer in Chromium, with a seeded market in the embedded ClickHouse, all on one machine',
    load: async () => {
      const { benchViewer, TICKS, VIEWERS, WIDTH } = await import('./viewer/index.js');
      return {
        run: benchViewer,
        settings: { ticks: TICKS.join(' and '), viewers: VIEWERS, width: WIDTH, scale: 1 },
      };
    },
  },
  {
    name: 'viewer-load',
    about:
      'exchange, collector, worker, ClickHouse and viewer as separate processes under load, without viewers and with clients that do what open pages of one dashboard do',
    runs: 3,
    load: async () => {
      const { benchViewerLoad, LOAD_DASHBOARD, LOAD_REFRESH_SECONDS, LOAD_SECONDS, VIEWERS } = await import(
        './viewer/load.js'
      );
      const { FRAMES_PER_SECOND } = await import('./live.js');
      return {
        run: benchViewerLoad,
        settings: {
          framesPerSecond: FRAMES_PER_SECOND,
          seconds: LOAD_SECONDS,
          viewers: VIEWERS,
          dashboard: LOAD_DASHBOARD,
          refreshSeconds: LOAD_REFRESH_SECONDS,
        },
      };
    },
  },
  {
    name: 'viewer-freshness',
    about:
      'in Chromium: the first page after npm start, and the page of a market whose price an order changes while 20 orders per second change others',
    runs: 3,
    load: async () => {
      const { benchViewerFreshness, SCREEN_ORDERS } = await import('./viewer/freshness.js');
      return {
        run: benchViewerFreshness,
        settings: { orders: SCREEN_ORDERS, events: 40, botsOfTheFirstPage: 24, botsOfTheMarket: 0 },
      };
    },
  },
];
