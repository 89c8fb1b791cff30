import type { EmbeddedEndpoint } from '../../../warehouse/index.js';
import { startClickHouse, type TestClickHouse } from '../clickhouse.js';

export interface SharedLogin {
  readonly user: string;
  readonly password: string;
}

export interface SharedDatabase {
  readonly url: string;
  readonly name: string;
  /** Whether it has all tables and views of Chancery, without rows. */
  readonly migrated: boolean;
  readonly owner: SharedLogin;
  readonly reader: SharedLogin;
}

/** Prefix of every database of the run, so that its reader may read all of them. */
const PREFIX = 'test_';
/** The databases that the reader may read, as a pattern. */
export const DATABASES = `${PREFIX}*`;

/**
 * One embedded ClickHouse, with a database per test file. A migrated database whose file has ended is emptied and given
 * to a later file: to create its tables and views takes most of a second.
 */
export class SharedClickHouse {
  #server: Promise<TestClickHouse> | undefined;
  #databases = 0;
  #free: string[] = [];
  /** Of each migrated database, a hash of its definitions before its first test. */
  readonly #definitions = new Map<string, string>();

  /** @param migrated whether a migrated database of a file that has ended will do as well */
  async database({ migrated }: { readonly migrated: boolean }): Promise<SharedDatabase> {
    this.#server ??= startShared();
    const { run, endpoint } = await this.#server;
    const free = migrated ? this.#free.pop() : undefined;
    const name = free ?? this.#newName();
    if (free === undefined) await run(`CREATE DATABASE ${name}`);
    const login = ({ user, password }: EmbeddedEndpoint['owner']) => ({ user, password: password.reveal() });
    return {
      url: endpoint.url,
      name,
      migrated: free !== undefined,
      owner: login(endpoint.owner),
      reader: login(endpoint.reader),
    };
  }

  /** A file has migrated this new database: later files may use it. */
  async migrated(name: string): Promise<null> {
    this.#definitions.set(name, await definitions(await this.#started(), name));
    return null;
  }

  /** A file needs this database no more. It is used again unless its tables were changed or it is still being queried. */
  async ended(name: string): Promise<null> {
    const server = await this.#started();
    if (this.#definitions.get(name) !== (await definitions(server, name))) return null;
    if ((await server.run(`SELECT count() FROM system.processes WHERE current_database = '${name}'`)).trim() !== '0') {
      return null;
    }
    // With its parts, a table forgets which blocks were inserted into it.
    const filled = await server.rows<{ table: string }>(
      `SELECT DISTINCT table FROM system.parts WHERE database = '${name}' AND table != 'applied_sql'`,
    );
    await Promise.all(filled.map(({ table }) => server.run(`TRUNCATE TABLE ${name}.${table}`)));
    this.#free.push(name);
    return null;
  }

  async stop(): Promise<void> {
    await (await this.#server?.catch(() => undefined))?.stop();
  }

  #newName(): string {
    this.#databases += 1;
    return `${PREFIX}${this.#databases}`;
  }

  async #started(): Promise<TestClickHouse> {
    if (!this.#server) throw new Error('no test file has asked for a database yet');
    return await this.#server;
  }
}

/** A hash of the definitions of all tables and views of a database. */
async function definitions({ run }: TestClickHouse, database: string): Promise<string> {
  return await run(
    `SELECT count(), groupBitXor(cityHash64(name, create_table_query)) FROM system.tables WHERE database = '${database}'`,
  );
}

/** The reader of an embedded server may read one database. As a pattern, its name matches all databases of the run. */
async function startShared(): Promise<TestClickHouse> {
  const server = await startClickHouse({ database: DATABASES });
  await server.run(`CREATE DATABASE \`${DATABASES}\``);
  return server;
}
