import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Query } from '../../certify/index.js';
import { UnavailableError } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';

/** Queries of the embedded ClickHouse of a data folder, as its owner: a reader's results are limited. */
export class OwnerQuery {
  #client: ReturnType<typeof createClient> | undefined;

  constructor(
    private readonly data: string,
    private readonly database: string,
  ) {}

  readonly query: Query = async <T>(sql: string): Promise<T[]> => {
    this.#client ??= await this.#connect();
    const result = await this.#client.query({
      query: sql,
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    return await result.json<T>();
  };

  async close(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
  }

  async #connect() {
    const endpoint = await findEmbedded(this.data);
    if (!endpoint) throw new UnavailableError(`no ClickHouse is running on ${this.data}`);
    const { url, user, password } = endpoint.owner;
    return createClient({
      url,
      username: user,
      password: password.reveal(),
      database: this.database,
      application: 'chancery certify',
      request_timeout: 300_000,
      log: { level: ClickHouseLogLevel.OFF },
    });
  }
}
