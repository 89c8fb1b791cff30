import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Logger, Secret } from '../../core/index.js';
import type { Compression } from './records/encode.js';

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

interface KafkaSasl {
  readonly mechanism: (typeof SASL_MECHANISMS)[number];
  readonly username: string;
  readonly password: Secret;
}

export interface KafkaBusOptions {
  /** Bootstrap brokers, as `host:port`; the others are learnt from them. */
  readonly brokers: readonly string[];
  /** Prefix of the names of topics and groups in Kafka, so that several instances can share a cluster. Default none. */
  readonly prefix?: string | undefined;
  /** Client ID in the brokers' logs and quotas. Default `chancery`. */
  readonly clientId?: string | undefined;
  /** Options of Node's TLS; absent: no TLS. */
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: KafkaSasl | undefined;
  /** Replication factor of a new topic; 0: three, or the number of brokers if there are fewer. Default 0. */
  readonly replication?: number | undefined;
  /** Compression of record batches. Default none. */
  readonly compression?: Compression | undefined;
  /** Largest value of a record, bytes. Default 900,000: what fits into Kafka's own default of 1 MiB a batch. */
  readonly maxRecordBytes?: number | undefined;
  /** How long an append, a read or a metadata request is retried before it fails, milliseconds. Default 30 s. */
  readonly apiTimeoutMs?: number | undefined;
  /** Timeouts of connecting and of a request, milliseconds. Defaults 5 s and 10 s. */
  readonly connectTimeoutMs?: number | undefined;
  readonly requestTimeoutMs?: number | undefined;
  /** Session timeout: without a heartbeat for this long a consumer loses its partitions, milliseconds. Default 10 s. */
  readonly sessionTimeoutMs?: number | undefined;
  /** A consumer that receives no record for this long while records are available fails, milliseconds. Default 60 s. */
  readonly stallMs?: number | undefined;
  /** How often the group leader checks for new and changed topics, milliseconds. Default 30 s. */
  readonly topicsEveryMs?: number | undefined;
  readonly log?: Logger | undefined;
}

export const KAFKA_DEFAULTS = {
  prefix: '',
  clientId: 'chancery',
  replication: 0,
  compression: 'none',
  maxRecordBytes: 900_000,
  apiTimeoutMs: 30_000,
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  sessionTimeoutMs: 10_000,
  stallMs: 60_000,
  topicsEveryMs: 30_000,
} as const;
