import { afterAll, beforeAll } from 'vitest';
import { Secret } from '../../core/index.js';
import { type ClickHouseEndpoint, Connection, migrate } from '../../warehouse/index.js';
import { runAs } from './run-as.js';
import { askServices } from './services/client.js';

/** A database on the ClickHouse that all test files share, used by nobody else until its end. */
export class TestDatabase {
  private constructor(
    readonly name: string,
    readonly owner: ClickHouseEndpoint,
    readonly reader: ClickHouseEndpoint,
  ) {}

  /** @param migrated whether it has all tables and views of Chancery, or nothing */
  static async create({ migrated }: { readonly migrated: boolean }): Promise<TestDatabase> {
    const given = await askServices('/database', migrated ? 'migrated' : '');
    const { url, name, owner, reader } = given;
    const login = ({ user, password }: typeof owner) => ({ url, user, password: new Secret(password) });
    const database = new TestDatabase(name, login(owner), login(reader));
    if (migrated && !given.migrated) {
      const connection = database.connect();
      await migrate(connection, { fsync: false }, new AbortController().signal);
      await connection.close();
      await askServices('/database-migrated', name);
    }
    return database;
  }

  /** A connection as the owner; the test closes it. */
  connect(): Connection {
    return new Connection({ endpoint: this.owner, database: this.name, application: 'test' });
  }

  /** Lets another file use it: nothing may write to it any more. */
  async end(): Promise<void> {
    await askServices('/database-end', this.name);
  }

  /** Runs one statement in this database; throws with the server's words when it fails. */
  run(sql: string, as: 'owner' | 'reader' = 'owner'): Promise<string> {
    return runAs(this.#at(this[as]), sql);
  }

  /** Rows of a SELECT as objects; 64-bit integers are numbers where they are exact. */
  async rows<T = Record<string, unknown>>(sql: string, as: 'owner' | 'reader' = 'owner'): Promise<T[]> {
    const text = await runAs(
      this.#at(this[as], '&output_format_json_quote_64bit_integers=0'),
      `${sql} FORMAT JSONEachRow`,
    );
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  }

  #at(endpoint: ClickHouseEndpoint, settings = ''): ClickHouseEndpoint {
    return { ...endpoint, url: `${endpoint.url}/?database=${this.name}${settings}` };
  }
}

/** A database for a test file from before its tests until after them. */
export function useDatabase(options: { readonly migrated: boolean }): { readonly database: TestDatabase } {
  let created: TestDatabase | undefined;
  beforeAll(async () => {
    created = await TestDatabase.create(options);
  });
  afterAll(async () => {
    if (options.migrated) await created?.end();
  });
  return {
    get database() {
      if (!created) throw new Error('the database of this test file is not made yet');
      return created;
    },
  };
}
