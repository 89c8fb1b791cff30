import { join, resolve } from 'node:path';

/** Files and folders of the embedded server, in the data folder of an instance. */
export function embeddedPaths(dataFolder: string) {
  const folder = join(resolve(dataFolder), 'clickhouse');
  return {
    folder,
    /** ClickHouse's data. */
    store: join(folder, 'store'),
    config: join(folder, 'config.xml'),
    users: join(folder, 'users.xml'),
    credentials: join(folder, 'credentials.json'),
    endpoint: join(folder, 'endpoint.json'),
    ports: join(folder, 'ports.json'),
    /** Links to folders outside, which the server may read. */
    readable: join(folder, 'readable'),
  };
}
export type EmbeddedPaths = ReturnType<typeof embeddedPaths>;
