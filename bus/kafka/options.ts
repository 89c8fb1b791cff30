import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Logger, Secret } from '../../core/index.js';
import type { Compression } from './records/encode.js';

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

export interface KafkaSasl {
  readonly mechanism: (typeof SASL_MECHANISMS)[number];
  readonly username: string;
  readonly password: Secret;
}

export interface KafkaBusOptions {
  /** Some brokers, as `host:port`; the others are learnt from them. */
  readonly brokers: readonly string[];
  /** What topics and groups begin with in Kafka, so that several instances can share a cluster. Default none. */
  readonly prefix?: string | undefined;
  /** How we call ourselves in the brokers' logs and quotas. Default `chancery`. */
  readonly clientId?: string | undefined;
  /** TLS, with node's own options; absent means none. */
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: KafkaSasl | undefined;
  /** Replicas of a new topic; 0 takes three, or as many as there are brokers. Default 0. */
  readonly replication?: number | undefined;
  /** How records are compressed. Default none. */
  readonly compression?: Compression | undefined;
  /** Largest value of a record, bytes. Default 900,000: what fits into Kafka's own default of 1 MiB a batch. */
  readonly maxRecordBytes?: number | undefined;
  /** How long an append, a commit or a read is tried again before it fails, milliseconds. Default 30 s. */
  readonly patienceMs?: number | undefined;
  /** Longest wait for a connection, and for an answer, milliseconds. Defaults 5 s and 10 s. */
  readonly connectTimeoutMs?: number | undefined;
  readonly requestTimeoutMs?: number | undefined;
  /** After so long without a sign of life a consumer's partitions go to others, milliseconds. Default 10 s. */
  readonly sessionTimeoutMs?: number | undefined;
  /** A consumer that waits for records that are there for longer than this is ended, milliseconds. Default 60 s. */
  readonly stallMs?: number | undefined;
  /** How often a group looks for new and changed topics, milliseconds. Default 30 s. */
  readonly topicsEveryMs?: number | undefined;
  readonly log?: Logger | undefined;
}

export const KAFKA_DEFAULTS = {
  prefix: '',
  clientId: 'chancery',
  replication: 0,
  compression: 'none',
  maxRecordBytes: 900_000,
  patienceMs: 30_000,
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  sessionTimeoutMs: 10_000,
  stallMs: 60_000,
  topicsEveryMs: 30_000,
} as const;
