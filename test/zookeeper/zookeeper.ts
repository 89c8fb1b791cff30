import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../support/free-ports.js';
import { JavaServer } from '../support/java-server.js';
import { MavenJars } from '../support/maven.js';
import { removeFolder, temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const jars = new MavenJars('zookeeper');

/** Why no ZooKeeper can be started; undefined if one can. */
export const whyNoZooKeeper = (): string | undefined => jars.whyNot;

/** A single ZooKeeper on a free loopback port, in its own folder. */
export class ZooKeeper {
  readonly #dir = temporaryFolder();
  readonly #server: JavaServer;

  private constructor(
    jars: string,
    readonly port: number,
  ) {
    const log = join(this.#dir, 'zookeeper.log');
    this.#server = new JavaServer({ name: 'ZooKeeper', jars, heap: ['-Xmx128m'], log });
  }

  static async start(): Promise<ZooKeeper> {
    const zooKeeper = new ZooKeeper(await jars.fetch(), await freePort());
    try {
      await zooKeeper.#start();
    } catch (error) {
      await zooKeeper.remove();
      throw error;
    }
    return zooKeeper;
  }

  /** Paths of all nodes below a path, as ZooKeeper's own command line tool lists them. */
  async paths(from: string): Promise<string[]> {
    const args = ['-server', `127.0.0.1:${this.port}`, 'ls', '-R', from];
    const stdout = await this.#server.tool('org.apache.zookeeper.ZooKeeperMain', args);
    return stdout.split('\n').filter((line) => line.startsWith(from));
  }

  /** Stops it and removes its folder. */
  async remove(): Promise<void> {
    await this.#server.kill();
    removeFolder(this.#dir);
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
    const ready = () => until(() => this.#serves(), 30_000);
    await this.#server.start('org.apache.zookeeper.server.ZooKeeperServerMain', [config], ready);
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
}
