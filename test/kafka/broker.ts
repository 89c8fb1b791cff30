import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openKafkaBus } from '../../bus/index.js';
import { kafkaJars } from './jars.js';
import { brokerProperties, KEYSTORE_PASSWORD, type Listeners, type Ports } from './properties.js';

const run = promisify(execFile);
const JVM = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
const READY_MS = 60_000;

/** A single Kafka node (KRaft) on loopback, in a folder of its own. */
export class Broker {
  #child: ChildProcess | undefined;

  private constructor(
    private readonly dir: string,
    private readonly jars: string,
    private readonly ports: Ports,
  ) {}

  /** Starts a fresh broker on free ports, and waits until it serves. */
  static async start(options: Listeners = {}): Promise<Broker> {
    const dir = await mkdtemp(join(tmpdir(), 'chancery-kafka-'));
    const broker = new Broker(dir, await kafkaJars(), await freePorts());
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

  /** The port that a proxy forwards to. */
  get proxiedPort(): number {
    return this.ports.proxied;
  }

  /** PEM text of the certificate of the secure listener. */
  get certificate(): string {
    return readFileSync(join(this.dir, 'broker.pem'), 'utf8');
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Starts on the same data and ports, and waits until it serves. */
  async restart(): Promise<void> {
    const log = openSync(join(this.dir, 'broker.log'), 'a');
    const child = spawn('java', this.#java('kafka.Kafka', join(this.dir, 'server.properties')), {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const killWithUs = () => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    this.#child = child;
    const died = once(child, 'exit').then(() => {
      throw new Error(`Kafka ended:\n${readFileSync(join(this.dir, 'broker.log'), 'utf8').slice(-3000)}`);
    });
    await Promise.race([this.#serves(), died]);
    died.catch(() => undefined);
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    await this.#end('SIGKILL');
    await rm(this.dir, { recursive: true, force: true });
  }

  async #serves(): Promise<void> {
    const bus = openKafkaBus({ brokers: [this.address], connectTimeoutMs: 500, patienceMs: READY_MS });
    try {
      await bus.partitions();
    } finally {
      await bus.close();
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async #format(options: Listeners): Promise<void> {
    const { security } = options;
    const config = join(this.dir, 'server.properties');
    writeFileSync(config, brokerProperties(this.dir, this.ports, options));
    const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) =>
      security ? ['--add-scram', `${mechanism}=[name=${security.user},password=${security.password}]`] : [],
    );
    const format = ['format', '-t', 'chancery-test-cluster0', '-c', config, ...users];
    await run('java', this.#java('kafka.tools.StorageTool', ...format));
    if (security) await this.#makeCertificate();
  }

  async #makeCertificate(): Promise<void> {
    const store = ['-keystore', join(this.dir, 'broker.p12'), '-storepass', KEYSTORE_PASSWORD, '-alias', 'broker'];
    const subject = ['-dname', 'CN=127.0.0.1', '-ext', 'san=ip:127.0.0.1'];
    await run('keytool', [
      '-genkeypair',
      '-keyalg',
      'EC',
      '-storetype',
      'PKCS12',
      '-validity',
      '30',
      ...subject,
      ...store,
    ]);
    await run('keytool', ['-exportcert', '-rfc', '-file', join(this.dir, 'broker.pem'), ...store]);
  }

  #java(main: string, ...args: string[]): string[] {
    return [...JVM, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', join(this.jars, '*'), main, ...args];
  }
}

async function freePorts(): Promise<Ports> {
  const servers = [0, 1, 2, 3].map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const [plain = 0, controller = 0, secure = 0, proxied = 0] = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  });
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return { plain, controller, secure, proxied };
}
