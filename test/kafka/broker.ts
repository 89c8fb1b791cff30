import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openKafkaBus } from '../../bus/index.js';
import { exportCertificate, makeCertificate } from '../support/certificate.js';
import { freePorts } from '../support/free-ports.js';
import { JavaServer } from '../support/java-server.js';
import { removeFolder, temporaryFolder } from '../support/temporary-folder.js';
import { kafkaJars } from './jars.js';
import { brokerProperties, KEYSTORE_PASSWORD, type Listeners, type Ports, type ProxiedPort } from './properties.js';

const READY_MS = 180_000;

/** A single Kafka node (KRaft) on loopback, in its own folder. */
export class Broker {
  readonly #server: JavaServer;

  private constructor(
    private readonly dir: string,
    jars: string,
    private readonly ports: Ports,
  ) {
    const heap = ['-Xms256m', '-Xmx512m'];
    this.#server = new JavaServer({ name: 'Kafka', jars, heap, log: join(dir, 'broker.log') });
  }

  /** Starts a new broker on free ports, and waits until it is ready. */
  static async start(options: Listeners = {}): Promise<Broker> {
    const dir = temporaryFolder();
    const broker = new Broker(dir, await kafkaJars(), await choosePorts(options.proxies));
    try {
      await broker.#format(options);
      await broker.restart();
    } catch (error) {
      await broker.remove();
      throw error;
    }
    return broker;
  }

  /** `host:port` of the listener without TLS. */
  get address(): string {
    return `127.0.0.1:${this.ports.plain}`;
  }

  /** `host:port` of the listener with TLS and SASL. */
  get secureAddress(): string {
    return `127.0.0.1:${this.ports.secure}`;
  }

  /** The listeners for proxies. */
  get proxied(): readonly ProxiedPort[] {
    return this.ports.proxied;
  }

  /** PEM text of the certificate of the secure listener. */
  get certificate(): string {
    return readFileSync(join(this.dir, 'broker.pem'), 'utf8');
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** kill -9. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Starts with the same data and ports, and waits until it is ready. */
  restart(): Promise<void> {
    return this.#server.start('kafka.Kafka', [join(this.dir, 'server.properties')], () => this.#serves());
  }

  /** Stops it and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    removeFolder(this.dir);
  }

  async #serves(): Promise<void> {
    const bus = openKafkaBus({ brokers: [this.address], connectTimeoutMs: 500, apiTimeoutMs: READY_MS });
    try {
      await bus.partitions();
    } finally {
      await bus.close();
    }
  }

  async #format({ security }: Listeners): Promise<void> {
    const config = join(this.dir, 'server.properties');
    writeFileSync(config, brokerProperties(this.dir, this.ports, security));
    const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) =>
      security ? ['--add-scram', `${mechanism}=[name=${security.user},password=${security.password}]`] : [],
    );
    const format = ['format', '-t', 'chancery-test-cluster0', '-c', config, ...users];
    await this.#server.tool('kafka.tools.StorageTool', format);
    if (security) await this.#makeCertificate();
  }

  async #makeCertificate(): Promise<void> {
    const store = { file: join(this.dir, 'broker.p12'), password: KEYSTORE_PASSWORD };
    await makeCertificate(store);
    await exportCertificate(store, join(this.dir, 'broker.pem'));
  }
}

async function choosePorts(proxies = 0): Promise<Ports> {
  const [plain = 0, controller = 0, secure = 0, ...rest] = await freePorts(3 + 2 * proxies);
  const proxied = Array.from({ length: proxies }, (_, i) => ({ port: rest[2 * i] ?? 0, target: rest[2 * i + 1] ?? 0 }));
  return { plain, controller, secure, proxied };
}
