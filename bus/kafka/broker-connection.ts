import { UsageError } from '../../core/index.js';
import { connectionFault, NoResponseError } from './faults.js';
import {
  type ApiVersions,
  type ConnectionOptions,
  type KafkajsConnection,
  openConnection,
  sendRequest,
} from './protocol/kafkajs-connection.js';
import { Reader } from './protocol/reader.js';
import type { Request } from './protocol/request.js';
import { Writer } from './protocol/writer.js';

interface Opened {
  readonly connection: KafkajsConnection;
  readonly versions: ApiVersions;
}

/** A connection to one broker for one purpose: opened on first use, and again after it was lost. */
export class BrokerConnection {
  readonly #broker: string;
  #opened: Promise<Opened> | undefined;

  constructor(
    private readonly address: { readonly host: string; readonly port: number },
    private readonly options: ConnectionOptions,
  ) {
    this.#broker = `${address.host}:${address.port}`;
  }

  /** @throws NoResponseError, or UsageError when the broker refuses the login or is too old */
  async send<T>(request: Request<T>): Promise<T> {
    this.#opened ??= openConnection(this.address, this.options);
    const opening = this.#opened;
    let opened: Opened;
    try {
      opened = await opening;
    } catch (error) {
      if (this.#opened === opening) this.#opened = undefined;
      throw connectionFault(error, this.#broker, `connect`);
    }
    this.#checkVersion(request, opened.versions);
    const { key, version, name } = request;
    try {
      return await sendRequest(
        opened.connection,
        { key, version, name, body: encode(request), timeoutMs: this.options.requestTimeoutMs + (request.waitMs ?? 0) },
        (payload) => decode(request, payload),
      );
    } catch (error) {
      // After a timeout or an incomplete response, later bytes on this connection may belong to another request.
      if (this.#opened === opening) this.#opened = undefined;
      drop(opened.connection, this.#broker);
      throw connectionFault(error, this.#broker, name);
    }
  }

  close(): void {
    const opening = this.#opened;
    this.#opened = undefined;
    opening?.then(
      ({ connection }) => drop(connection, this.#broker),
      () => undefined,
    );
  }

  #checkVersion(request: Request<unknown>, versions: ApiVersions): void {
    const offered = versions[request.key];
    if (offered && offered.minVersion <= request.version && request.version <= offered.maxVersion) return;
    throw new UsageError(
      `Kafka at ${this.#broker} does not support version ${request.version} of ${request.name}; Chancery needs Kafka 3.1 or newer`,
    );
  }
}

function encode(request: Request<unknown>): Buffer {
  const writer = new Writer();
  if (request.flexible) writer.noTags();
  request.encode(writer);
  return writer.bytes;
}

function decode<T>(request: Request<T>, payload: Buffer): T {
  const reader = new Reader(payload);
  if (request.flexible) reader.tags();
  return request.decode(reader);
}

function drop(connection: KafkajsConnection, broker: string): void {
  connection.rejectRequests(new NoResponseError(`the connection to Kafka at ${broker} was closed`));
  // kafkajs's `disconnect` would wait for a broker that no longer responds.
  void connection
    .disconnect()
    .catch(() => undefined)
    .then(() => connection.socket?.destroy());
}
