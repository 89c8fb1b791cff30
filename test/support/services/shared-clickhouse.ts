import type { EmbeddedEndpoint } from '../../../warehouse/index.js';
import { startClickHouse, type TestClickHouse } from '../clickhouse.js';

export interface SharedLogin {
  readonly user: string;
  readonly password: string;
}

export interface SharedDatabase {
  readonly url: string;
  readonly name: string;
  readonly owner: SharedLogin;
  readonly reader: SharedLogin;
}

/** Prefix of every database of the run, so that its reader may read all of them. */
const PREFIX = 'test_';
/** The databases that the reader may read, as a pattern. */
export const DATABASES = `${PREFIX}*`;

/** One embedded ClickHouse, with a database per test file. */
export class SharedClickHouse {
  #server: Promise<TestClickHouse> | undefined;
  #databases = 0;

  async database(): Promise<SharedDatabase> {
    this.#server ??= startShared();
    const { run, endpoint } = await this.#server;
    this.#databases += 1;
    const name = `${PREFIX}${this.#databases}`;
    await run(`CREATE DATABASE ${name}`);
    const login = ({ user, password }: EmbeddedEndpoint['owner']) => ({ user, password: password.reveal() });
    return { url: endpoint.url, name, owner: login(endpoint.owner), reader: login(endpoint.reader) };
  }

  async stop(): Promise<void> {
    await (await this.#server?.catch(() => undefined))?.stop();
  }
}

/** The reader of an embedded server may read one database. As a pattern, its name matches all databases of the run. */
async function startShared(): Promise<TestClickHouse> {
  const server = await startClickHouse({ database: DATABASES });
  await server.run(`CREATE DATABASE \`${DATABASES}\``);
  return server;
}
