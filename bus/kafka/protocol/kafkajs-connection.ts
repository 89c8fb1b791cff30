import { createRequire } from 'node:module';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import { FrameCutter } from './frame-cutter.js';
import type { FrameMemory } from './frame-memory.js';

/**
 * The parts of kafkajs 2.2.4 below its producer and consumer, which it exports without types: a connection that frames
 * requests, authenticates and times out. This file is the only one that knows them.
 */
interface ConnectionPool {
  /** The first is the one that `getConnection` gives. */
  readonly pool: readonly [KafkajsConnection, ...KafkajsConnection[]];
  getConnection(): Promise<KafkajsConnection>;
  destroy(): Promise<void>;
}

interface KafkajsBroker {
  connect(): Promise<void>;
  readonly versions: ApiVersions | null;
}

interface Encoded {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

interface KafkajsRequest<T> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    encode(): Promise<Encoded>;
  };
  readonly response: { decode(payload: Buffer): Promise<T>; parse(data: T): Promise<T> };
  readonly requestTimeout: number;
  readonly logResponseError: boolean;
}

export interface KafkajsConnection {
  readonly socket: Socket | undefined;
  /** What came and is not processed yet. */
  chunks: Buffer[];
  processData(chunk: Buffer): void;
  isConnected(): boolean;
  send<T>(request: KafkajsRequest<T>): Promise<T>;
  rejectRequests(error: Error): void;
  disconnect(): Promise<unknown>;
}

export type ApiVersions = Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>>;

interface PoolOptions {
  readonly host: string;
  readonly port: number;
  readonly clientId: string;
  readonly ssl: TlsOptions | null;
  readonly sasl: SASLOptions | null;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly logger: unknown;
  readonly socketFactory: unknown;
}

const require = createRequire(import.meta.url);
const Pool = require('kafkajs/src/network/connectionPool.js') as new (options: PoolOptions) => ConnectionPool;
const Broker = require('kafkajs/src/broker/index.js') as new (options: {
  connectionPool: ConnectionPool;
  logger: unknown;
  authenticationTimeout: number;
}) => KafkajsBroker;
const { createErrorFromCode } = require('kafkajs/src/protocol/error.js') as {
  createErrorFromCode(code: number): Error;
};

export interface ConnectionOptions {
  readonly clientId: string;
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
  /** Longest wait for a connection, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Longest wait for an answer beyond what the request itself allows, milliseconds. */
  readonly requestTimeoutMs: number;
  /** What answers are put into. */
  readonly memory: FrameMemory;
}

/** What is read from a connection at a time, at most. */
const READ_BYTES = 256 * 1024;

const silent = () => undefined;
const quiet = { debug: silent, info: silent, warn: silent, error: silent, namespace: () => quiet };

/** Opens a connection to one broker: TLS, what it speaks, who we are. */
export async function openConnection(
  address: { readonly host: string; readonly port: number },
  options: ConnectionOptions,
): Promise<{ connection: KafkajsConnection; versions: ApiVersions }> {
  const pool = new Pool({
    ...address,
    clientId: options.clientId,
    ssl: options.tls ?? null,
    sasl: options.sasl ?? null,
    connectionTimeout: options.connectTimeoutMs,
    requestTimeout: options.requestTimeoutMs,
    logger: quiet,
    socketFactory,
  });
  cutFrames(pool.pool[0], options.memory);
  const broker = new Broker({ connectionPool: pool, logger: quiet, authenticationTimeout: options.requestTimeoutMs });
  try {
    await broker.connect();
    return { connection: await pool.getConnection(), versions: broker.versions ?? {} };
  } catch (error) {
    void pool.destroy().catch(() => undefined);
    throw error;
  }
}

/** Gives kafkajs whole frames, of which it makes views; it would join the pieces of a frame by copying them. */
function cutFrames(connection: KafkajsConnection, memory: FrameMemory): void {
  const process = connection.processData.bind(connection);
  const cutter = new FrameCutter(memory, (frame) => {
    // The nothing that is left of the frame before would be joined to this one.
    connection.chunks = [];
    process(frame);
  });
  connection.processData = (chunk) => {
    try {
      cutter.add(chunk);
    } catch (error) {
      connection.socket?.destroy(error as Error);
    }
  };
}

/** Sends one request in kafkajs's form; the body is what `encode` wrote. */
export function sendRequest<T>(
  connection: KafkajsConnection,
  request: { key: number; version: number; name: string; body: Buffer; timeoutMs: number },
  decode: (payload: Buffer) => T,
): Promise<T> {
  return connection.send<T>({
    request: {
      apiKey: request.key,
      apiVersion: request.version,
      apiName: request.name,
      encode: async () => ({ buf: request.body, buffer: request.body }),
    },
    response: { decode: async (payload) => decode(payload), parse: async (data) => data },
    requestTimeout: request.timeoutMs,
    logResponseError: false,
  });
}

/** What Kafka's own documentation says of an error code. */
export function explain(code: number): string {
  return createErrorFromCode(code).message;
}

function socketFactory(to: { host: string; port: number; ssl: TlsOptions | null; onConnect: () => void }): Socket {
  const { host, port, ssl, onConnect } = to;
  const socket = ssl
    ? connectTls({ host, port, ...(isAddress(host) ? {} : { servername: host }), ...ssl }, onConnect)
    : connectPlain(host, port, onConnect);
  return socket.setKeepAlive(true, 60_000).setNoDelay(true);
}

/** A connection that reads into the same memory again and again. */
function connectPlain(host: string, port: number, onConnect: () => void): Socket {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (bytes: number) => socket.emit('data', buffer.subarray(0, bytes));
  const socket: Socket = connectTcp({ host, port, onread: { buffer, callback } }, onConnect);
  return socket;
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);
