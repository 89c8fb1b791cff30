import { existsSync } from 'node:fs';
import { whyNoBroker } from '../test/kafka/jars.js';
import { benchAggregates } from './aggregates.js';
import type { Bench } from './bench.js';
import { benchBusAppend } from './bus-append.js';
import { benchClientAccount } from './client-account.js';
import { benchClientDecode } from './client-decode.js';
import { benchEngine } from './engine.js';
import { ACCOUNTS, benchExchangeOrders, CONNECTIONS, ORDERS } from './exchange-orders.js';
import { benchKafka, PARTITIONS } from './kafka.js';
import { benchKafkaAppend, whyNoKafka } from './kafka-append.js';
import { benchLargeFrames } from './large-frames.js';
import { benchLive, FRAMES_PER_SECOND, SECONDS } from './live.js';
import { benchStorage, PACE, SECONDS as STORAGE_SECONDS } from './storage.js';
import { benchTrading, PACES, SECONDS as TRADING_SECONDS } from './trading.js';
import { benchTransform } from './transform.js';
import { benchViewerFreshness, SCREEN_ORDERS } from './viewer/freshness.js';
import { benchViewer, TICKS, VIEWERS, WIDTH } from './viewer/index.js';
import {
  benchViewerLoad,
  LOAD_DASHBOARD,
  LOAD_REFRESH_SECONDS,
  LOAD_SECONDS,
  VIEWERS as LOAD_VIEWERS,
} from './viewer/load.js';
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
    settings: { durable: true },
    run: benchBusAppend,
  },
  {
    name: 'kafka-append',
    about: 'the bus on Kafka alone, with one producer and the broker on the same machine',
    settings: { acks: 'all', compression: 'none', partitions: 4 },
    unavailable: whyNoKafka,
    run: benchKafkaAppend,
  },
  {
    name: 'kafka',
    about:
      'order book records in a Kafka topic until a query returns their rows, compared with ClickHouse’s own Kafka engine',
    settings: {
      protocol: 'exactly once',
      rawBodies: false,
      partitions: PARTITIONS,
      workers: 1,
      events: 40,
      markets: 480,
      measured: MEASURED,
    },
    // Each takes minutes.
    runs: 3,
    unavailable: whyNoBroker,
    run: benchKafka,
  },
  {
    name: 'live',
    about: 'exchange, collector, worker and ClickHouse as separate processes: from the socket to the result of a query',
    settings: {
      framesPerSecond: FRAMES_PER_SECOND,
      seconds: SECONDS,
      entriesPerFrame: 1,
      fsync: true,
      rawBodies: true,
    },
    run: benchLive,
  },
  {
    name: 'transform',
    about: 'order book records in the embedded log until a query returns their rows',
    settings: TRANSFORM_SETTINGS,
    // Each takes minutes.
    runs: 3,
    run: benchTransform,
  },
  {
    name: 'storage',
    about: 'disk space that the simulated exchange’s trading takes in ClickHouse after merges',
    settings: { pace: PACE, seconds: STORAGE_SECONDS, events: 40, bots: 24, rawBodies: true },
    run: benchStorage,
  },
  {
    name: 'trading',
    about: 'the bots, as clients in their own process, and the simulated exchange on which they trade',
    settings: { paces: PACES.join(' and '), seconds: TRADING_SECONDS, events: 40, bots: 24 },
    unavailable: () => (existsSync('/proc/self/stat') ? undefined : 'it needs /proc for CPU times'),
    run: benchTrading,
  },
  {
    name: 'client-decode',
    about: 'the order book decoder, and the zod schemas in its place, in one thread',
    settings: {},
    run: benchClientDecode,
  },
  {
    name: 'large-frames',
    about: 'processing time of the largest frames in a collector, in one thread',
    settings: {},
    run: benchLargeFrames,
  },
  {
    name: 'client-account',
    about: 'signing requests and decoding account records with exact numbers, in one thread',
    settings: { tradesPerPage: 100 },
    run: benchClientAccount,
  },
  {
    name: 'engine',
    about: 'the exchange’s matching engine alone, in one thread',
    settings: { orders: 200_000, markets: 40, accounts: 24 },
    run: benchEngine,
  },
  {
    name: 'exchange-orders',
    about: 'signed limit orders over HTTP, with exchange and client as two processes on one machine',
    settings: { orders: ORDERS, connections: CONNECTIONS, accounts: ACCOUNTS, durable: true },
    run: benchExchangeOrders,
  },
  {
    name: 'aggregates',
    about:
      'order book records in the embedded log until a query returns their rows, with the aggregates of ticks and without them',
    settings: TRANSFORM_SETTINGS,
    runs: 3,
    run: benchAggregates,
  },
  {
    name: 'viewer',
    about: 'the pages of the viewer in Chromium, with a seeded market in the embedded ClickHouse, all on one machine',
    settings: { ticks: TICKS.join(' and '), viewers: VIEWERS, width: WIDTH, scale: 1 },
    run: benchViewer,
  },
  {
    name: 'viewer-load',
    about:
      'exchange, collector, worker, ClickHouse and viewer as separate processes under load, without viewers and with clients that do what open pages of one dashboard do',
    settings: {
      framesPerSecond: FRAMES_PER_SECOND,
      seconds: LOAD_SECONDS,
      viewers: LOAD_VIEWERS,
      dashboard: LOAD_DASHBOARD,
      refreshSeconds: LOAD_REFRESH_SECONDS,
    },
    runs: 3,
    run: benchViewerLoad,
  },
  {
    name: 'viewer-freshness',
    about:
      'in Chromium: the first page after npm start, and the page of a market whose price an order changes while 20 orders per second change others',
    settings: { orders: SCREEN_ORDERS, events: 40, botsOfTheFirstPage: 24, botsOfTheMarket: 0 },
    runs: 3,
    run: benchViewerFreshness,
  },
];
