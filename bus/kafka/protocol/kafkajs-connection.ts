import { createRequire } from 'node:module';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions as TlsOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import type { BufferPool } from './buffer-pool.js';
import { FrameDecoder } from './frame-decoder.js';

/**
 * The parts of kafkajs 2.2.4 below its producer and consumer, which it exports without types: a connection that frames
 * requests, authenticates and times out. Only this file uses them.
 */
interface ConnectionPool {
  /** `getConnection` returns the first. */
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
  /** Received and not yet processed. */
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

let loaded: ReturnType<typeof loadKafkajs> | undefined;

/** Loaded with the first connection: a process with the embedded log starts without it. */
const kafkajs = () => {
  loaded ??= loadKafkajs();
  return loaded;
};

function loadKafkajs() {
  const require = createRequire(import.meta.url);
  return {
    ConnectionPool: require('kafkajs/src/network/connectionPool.js') as new (options: PoolOptions) => ConnectionPool,
    Broker: require('kafkajs/src/broker/index.js') as new (options: {
      connectionPool: ConnectionPool;
      logger: unknown;
      authenticationTimeout: number;
    }) => KafkajsBroker,
    ...(require('kafkajs/src/protocol/error.js') as { createErrorFromCode(code: number): Error }),
  };
}

export interface ConnectionOptions {
  readonly clientId: string;
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
  /** Timeout of connecting, milliseconds. */
  readonly connectTimeoutMs: number;
  /** Timeout of a response, in addition to the request's `waitMs`, milliseconds. */
  readonly requestTimeoutMs: number;
  /** Memory for responses. */
  readonly bufferPool: BufferPool;
}

/** Size of the buffer that a socket reads into, bytes. */
const READ_BYTES = 256 * 1024;

const silent = () => undefined;
const quiet = { debug: silent, info: silent, warn: silent, error: silent, namespace: () => quiet };

/** Opens a connection to one broker: TLS, ApiVersions, SASL. */
export async function openConnection(
  address: { readonly host: string; readonly port: number },
  options: ConnectionOptions,
): Promise<{ connection: KafkajsConnection; versions: ApiVersions }> {
  const { ConnectionPool, Broker } = kafkajs();
  const pool = new ConnectionPool({
    ...address,
    clientId: options.clientId,
    ssl: options.tls ?? null,
    sasl: options.sasl ?? null,
    connectionTimeout: options.connectTimeoutMs,
    requestTimeout: options.requestTimeoutMs,
    logger: quiet,
    socketFactory,
  });
  decodeFrames(pool.pool[0], options.bufferPool);
  const broker = new Broker({
    connectionPool: pool,
    logger: quiet,
    authenticationTimeout: options.requestTimeoutMs,
  });
  try {
    await broker.connect();
    return { connection: await pool.getConnection(), versions: broker.versions ?? {} };
  } catch (error) {
    void pool.destroy().catch(() => undefined);
    throw error;
  }
}

/** Passes complete frames to kafkajs, which creates views of them; it would concatenate chunks into new buffers. */
function decodeFrames(connection: KafkajsConnection, bufferPool: BufferPool): void {
  const process = connection.processData.bind(connection);
  const decoder = new FrameDecoder(bufferPool, (frame) => {
    // kafkajs would concatenate this frame with the empty remainder of the previous one, which copies it.
    connection.chunks = [];
    process(frame);
  });
  connection.processData = (chunk) => {
    try {
      decoder.add(chunk);
    } catch (error) {
      connection.socket?.destroy(error as Error);
    }
  };
}

/** Sends one request with an encoded body through kafkajs. */
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

/** The description of an error code in Kafka's protocol documentation. */
export function explain(code: number): string {
  return kafkajs().createErrorFromCode(code).message;
}

function socketFactory(to: { host: string; port: number; ssl: TlsOptions | null; onConnect: () => void }): Socket {
  const { host, port, ssl, onConnect } = to;
  const socket = ssl
    ? connectTls({ host, port, ...(isAddress(host) ? {} : { servername: host }), ...ssl }, onConnect)
    : connectPlain(host, port, onConnect);
  return socket.setKeepAlive(true, 60_000).setNoDelay(true);
}

/** A connection that reads into one reused buffer. */
function connectPlain(host: string, port: number, onConnect: () => void): Socket {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (bytes: number) => socket.emit('data', buffer.subarray(0, bytes));
  const socket: Socket = connectTcp({ host, port, onread: { buffer, callback } }, onConnect);
  return socket;
}

const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);
