import { UsageError } from '../../core/index.js';
import { connectionFault, NoAnswerError } from './faults.js';
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

/** A connection to one broker for one purpose: opened when it is needed, and again after it broke. */
export class Link {
  readonly #broker: string;
  #opened: Promise<Opened> | undefined;

  constructor(
    private readonly address: { readonly host: string; readonly port: number },
    private readonly options: ConnectionOptions,
  ) {
    this.#broker = `${address.host}:${address.port}`;
  }

  /** @throws NoAnswerError, or UsageError when the broker does not let us in or is too old */
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
      // After a silence or a torn answer nothing that comes on this connection can be trusted to be what was asked for.
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
      `Kafka at ${this.#broker} does not speak version ${request.version} of ${request.name}; Chancery needs Kafka 3.1 or newer`,
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
  connection.rejectRequests(new NoAnswerError(`the connection to Kafka at ${broker} was closed`));
  // Its own goodbye would wait for a broker that no longer answers.
  void connection
    .disconnect()
    .catch(() => undefined)
    .then(() => connection.socket?.destroy());
}
