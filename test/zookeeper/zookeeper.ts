import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../warehouse/embedded/ports.js';
import { until } from '../pipeline/rig.js';
import { MavenJars } from '../support/maven.js';

const run = promisify(execFile);
const JVM = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
const jars = new MavenJars('zookeeper');

/** Why no ZooKeeper can be started here; undefined when one can. */
export const whyNoZooKeeper = (): string | undefined => jars.whyNot;

/** A single ZooKeeper on a free port of loopback, in a folder of its own. */
export class ZooKeeper {
  readonly #dir = mkdtempSync(join(tmpdir(), 'chancery-zookeeper-'));
  #child: ChildProcess | undefined;

  private constructor(
    private readonly jars: string,
    readonly port: number,
  ) {}

  static async start(): Promise<ZooKeeper> {
    const zooKeeper = new ZooKeeper(await jars.fetch(), await freePort([]));
    try {
      await zooKeeper.#start();
    } catch (error) {
      await zooKeeper.remove();
      throw error;
    }
    return zooKeeper;
  }

  /** Paths of all nodes from here down, as its own command line tool lists them. */
  async paths(from: string): Promise<string[]> {
    const tool = ['org.apache.zookeeper.ZooKeeperMain', '-server', `127.0.0.1:${this.port}`, 'ls', '-R', from];
    const { stdout } = await run('java', this.#java(tool), { maxBuffer: 2 ** 24 });
    return stdout.split('\n').filter((line) => line.startsWith(from));
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const config = join(this.#dir, 'zoo.cfg');
    const properties = {
      dataDir: join(this.#dir, 'data'),
      clientPortAddress: '127.0.0.1',
      clientPort: this.port,
      'admin.enableServer': false,
      '4lw.commands.whitelist': 'ruok',
    };
    const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(config, lines.join(''));
    const logFile = join(this.#dir, 'zookeeper.log');
    const log = openSync(logFile, 'a');
    const child = spawn('java', this.#java(['org.apache.zookeeper.server.ZooKeeperServerMain', config]), {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const killWithUs = () => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    this.#child = child;
    const died = once(child, 'exit').then(() => {
      throw new Error(`ZooKeeper ended:\n${readFileSync(logFile, 'utf8').slice(-3000)}`);
    });
    await Promise.race([until(30_000, () => this.#serves()), died]);
    died.catch(() => undefined);
  }

  async #serves(): Promise<true | string> {
    const socket = connect(this.port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.write('ruok');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString() === 'imok' || `it answers ${answer}`;
    } catch (error) {
      return String(error);
    } finally {
      socket.destroy();
    }
  }

  #java(args: readonly string[]): string[] {
    return [...JVM, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', join(this.jars, '*'), ...args];
  }
}
