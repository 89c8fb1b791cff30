import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, Secret } from '../../core/index.js';
import type { ClickHouseEndpoint } from '../../warehouse/index.js';
import { freePorts } from '../support/free-ports.js';
import { runAs } from '../support/run-as.js';
import { until } from '../support/until.js';

const USERS = join(packageRoot(), 'deploy/clickhouse/users.xml');

/** The users file of a fresh server, which the files of users.d extend. */
const FRESH_USERS = `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <no_password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
    </default>
  </users>
</clickhouse>
`;

/**
 * The embedded ClickHouse instead of the image of docker-compose.yml, with the users file of that service and its
 * passwords from the environment. One thing differs: the library's own session is the user `default`, which the file
 * removes on a server.
 */
export class StandInServer {
  #child: ChildProcess | undefined;

  private constructor(
    readonly httpPort: number,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start(folder: string, env: Readonly<Record<string, string>>): Promise<StandInServer> {
    const [httpPort = 0, tcpPort = 0] = await freePorts(2);
    const server = new StandInServer(httpPort, env);
    const home = join(folder, 'clickhouse');
    mkdirSync(join(home, 'users.d'), { recursive: true });
    mkdirSync(join(home, 'store'));
    const users = join(home, 'users.xml');
    writeFileSync(users, FRESH_USERS);
    const own = readFileSync(USERS, 'utf8');
    const kept = own.replace('<default remove="remove"/>', '');
    if (kept === own) throw new Error(`${USERS} does not remove the default user`);
    writeFileSync(join(home, 'users.d/zz-chancery.xml'), kept);
    writeFileSync(join(home, 'config.xml'), `<clickhouse><users_config>${users}</users_config></clickhouse>\n`);
    const child = join(packageRoot(), 'dist/warehouse/embedded/child.js');
    server.#child = spawn(process.execPath, [child, folder, String(httpPort), String(tcpPort)], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { TZ: 'UTC', ...env },
    });
    server.#child.stdin?.write(`${env['CLICKHOUSE_OWNER_PASSWORD']}\n`);
    await until(() => runAs(server.login('owner'), 'SELECT 1').then(() => true, String));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  login(user: 'owner' | 'reader'): ClickHouseEndpoint {
    const password = this.env[`CLICKHOUSE_${user.toUpperCase()}_PASSWORD`] ?? '';
    return { url: this.url, user, password: new Secret(password) };
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.stdin?.end();
    await ended;
  }
}
