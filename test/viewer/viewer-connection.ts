import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Secret } from '../../core/index.js';
import type { ReaderConnection } from '../../viewer/database.js';

interface Login {
  readonly url: string;
  readonly user: string;
  readonly password: Secret;
  readonly database: string;
}

/** Connects a viewer with this login. */
export const connectWith =
  ({ url, user, password, database }: Login, requestTimeoutMs = 30_000) =>
  async (): Promise<ReaderConnection> => {
    const client = createClient({
      ...{ url, username: user, password: password.reveal(), database },
      request_timeout: requestTimeoutMs,
      log: { level: ClickHouseLogLevel.OFF },
    });
    return { client, close: () => client.close() };
  };
