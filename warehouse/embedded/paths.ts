import { join, resolve } from 'node:path';

/** Where the embedded server keeps its things, below the data folder of an instance. */
export function embeddedPaths(dataFolder: string) {
  const folder = join(resolve(dataFolder), 'clickhouse');
  return {
    folder,
    /** What ClickHouse stores. */
    store: join(folder, 'store'),
    config: join(folder, 'config.xml'),
    users: join(folder, 'users.xml'),
    credentials: join(folder, 'credentials.json'),
    endpoint: join(folder, 'endpoint.json'),
    ports: join(folder, 'ports.json'),
  };
}
export type EmbeddedPaths = ReturnType<typeof embeddedPaths>;
