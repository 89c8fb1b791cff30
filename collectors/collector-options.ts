import type { Registry } from 'prom-client';
import type { Bus, TopicOptions } from '../bus/index.js';
import type { ExchangeAddresses } from '../client/index.js';
import type { AccountCredentials, Clock, CollectSettings, Logger } from '../core/index.js';

export interface CollectorOptions {
  readonly bus: Bus;
  /** Options of topics that do not exist yet. */
  readonly topics: TopicOptions;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  /** Folder of the state files, which save fetching everything again after a restart. */
  readonly folder: string;
  readonly settings: CollectSettings;
  readonly addresses: ExchangeAddresses;
  readonly requestTimeoutMs: number;
  /** Timeout of a probe or a subscription, milliseconds. Default 5,000. */
  readonly answerMs?: number;
  /** Maximum delay before a reconnect, milliseconds. Default 30,000. */
  readonly reconnectCapMs?: number;
  /** Received bytes that may wait for the bus before sockets are paused. Default 32 MiB. */
  readonly queueBytes?: number;

  /** Accounts to record. Default none. */
  readonly accounts?: readonly AccountCredentials[];
}
