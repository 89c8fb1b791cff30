import type { Registry } from 'prom-client';
import type { Bus, TopicOptions } from '../bus/index.js';
import type { ExchangeAddresses } from '../client/index.js';
import type { AccountCredentials, Clock, Logger } from '../core/index.js';
import type { SchedulePatterns } from './schedules.js';

export interface CollectorOptions {
  readonly bus: Bus;
  /** Topics are created like this where they do not exist. */
  readonly topics: TopicOptions;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  /** Folder of the state files: what need not be fetched again after a restart. */
  readonly folder: string;
  /** Name of this collector in records. */
  readonly name: string;
  /** Which part of the work it does: `I/N`, I from 0. */
  readonly shard: string;

  readonly addresses: ExchangeAddresses;
  /** Per host. */
  readonly requestsPerSecond: number;
  readonly requestTimeoutMs: number;
  /** Events on one connection, at most. */
  readonly subscriptionsPerConnection: number;
  /** Silence after which a subscription is verified by a probe, milliseconds. */
  readonly silenceMs: number;
  /** How long the exchange may take to answer a probe or a subscription, milliseconds. Default 5,000. */
  readonly answerMs?: number;
  /** Maximum delay before a reconnect, milliseconds. Default 30,000. */
  readonly reconnectCapMs?: number;
  /** Received bytes that may wait for the bus before sockets are paused. Default 32 MiB. */
  readonly queueBytes?: number;

  readonly schedules: SchedulePatterns;
  /** Period code of part 6.2, or seconds as text. */
  readonly historyPeriod: string;
  /** How much chance history of a market is fetched when it is seen for the first time, days. */
  readonly historyDays: number;
  /** Accounts that are recorded too. Default none. */
  readonly accounts?: readonly AccountCredentials[];
  /** Feeds that are recorded by address: `NAME=URL,NAME=URL`. */
  readonly rawFeeds?: string | undefined;
}
