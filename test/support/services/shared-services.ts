import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProxiedPort } from '../../kafka/properties.js';
import { SharedClickHouse, type SharedDatabase } from './shared-clickhouse.js';
import { SharedKafka, type SharedKafkaAddresses } from './shared-kafka.js';

/** Requests of test files, and their responses. */
export interface Services {
  /** A database on the ClickHouse of the run: a new one, or with the body `migrated` also one that a file has migrated. */
  '/database': SharedDatabase;
  /** The database of this name is migrated. */
  '/database-migrated': null;
  /** The database of this name may be given to another file. */
  '/database-end': null;
  /** The Kafka of the run. */
  '/kafka': SharedKafkaAddresses;
  /** A listener of Kafka for one proxy, until `/kafka-proxy-end`. */
  '/kafka-proxy': ProxiedPort;
  '/kafka-proxy-end': null;
}

/** One ClickHouse and one Kafka for all test files of a run, each started on the first request of a file. */
export class SharedServices {
  readonly #clickhouse = new SharedClickHouse();
  readonly #kafka = new SharedKafka();
  readonly #answers: { [Path in keyof Services]: (body: string) => Promise<Services[Path]> } = {
    '/database': (body) => this.#clickhouse.database({ migrated: body === 'migrated' }),
    '/database-migrated': (body) => this.#clickhouse.migrated(body),
    '/database-end': (body) => this.#clickhouse.ended(body),
    '/kafka': () => this.#kafka.addresses(),
    '/kafka-proxy': () => this.#kafka.leaseProxy(),
    '/kafka-proxy-end': (body) => this.#kafka.endLease(Number(body)),
  };
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        void this.#answer(request.url ?? '', Buffer.concat(chunks).toString()).then(
          (answer) => response.end(JSON.stringify(answer)),
          (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
        );
      });
    });
  }

  static async listen(): Promise<SharedServices> {
    const services = new SharedServices();
    services.#server.listen(0, '127.0.0.1');
    await once(services.#server, 'listening');
    return services;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await Promise.all([this.#clickhouse.stop(), this.#kafka.stop()]);
  }

  async #answer(path: string, body: string): Promise<unknown> {
    if (!(path in this.#answers)) throw new Error(`there is no shared service ${path}`);
    return this.#answers[path as keyof Services](body);
  }
}
