import { createLogger } from '../core/index.js';
import { Connection, EmbeddedClickHouse, type EmbeddedOptions, migrate } from '../warehouse/index.js';
import { ExportSource, openClient } from './source.js';

interface InstanceOptions
  extends Pick<EmbeddedOptions, 'dataFolder' | 'readableFolders' | 'database' | 'memoryBytes' | 'unconfined'> {
  /** Whether what is stored must survive a power failure. */
  readonly fsync: boolean;
}

/** The embedded ClickHouse of a new data folder, with the empty tables of this version. */
export class Instance {
  private constructor(
    readonly connection: Connection,
    readonly source: ExportSource,
    readonly close: () => Promise<void>,
  ) {}

  static async start(options: InstanceOptions, signal: AbortSignal): Promise<Instance> {
    const logger = createLogger({ service: 'clickhouse', level: 'fatal', plain: true });
    const { fsync, ...rest } = options;
    const server = new EmbeddedClickHouse({ ...rest, httpPort: 0, logger });
    await server.start(signal);
    const { database } = rest;
    const connection = new Connection({ endpoint: server.endpoint.owner, database, application: 'chancery dataset' });
    const client = openClient(server.endpoint.owner, database);
    const close = async () => {
      await client.close();
      await connection.close();
      await server.stop();
    };
    try {
      await migrate(connection, { fsync }, signal);
    } catch (error) {
      await close();
      throw error;
    }
    return new Instance(connection, new ExportSource(client), close);
  }
}
