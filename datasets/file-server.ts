import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { createLogger } from '../core/index.js';
import { EmbeddedClickHouse } from '../warehouse/index.js';
import { ExportSource } from './source.js';

const MEMORY_BYTES = 1e9;

export interface FileServerOptions {
  readonly folder: string;
  /** Runs it without restricting it to the folder, also where the kernel could. */
  readonly unconfined: boolean;
}

/** An embedded ClickHouse that has no data and reads the files of one folder. */
export class FileServer {
  private constructor(
    readonly source: ExportSource,
    /** Absolute path of the folder. */
    readonly folder: string,
    readonly close: () => Promise<void>,
  ) {}

  static async start({ folder, unconfined }: FileServerOptions, signal: AbortSignal): Promise<FileServer> {
    const dataFolder = mkdtempSync(join(tmpdir(), 'chancery-dataset-'));
    const readableFolder = realpathSync(folder);
    const server = new EmbeddedClickHouse({
      ...{ dataFolder, readableFolder, unconfined, database: 'default', httpPort: 0, memoryBytes: MEMORY_BYTES },
      logger: createLogger({ service: 'clickhouse', level: 'fatal', plain: true }),
    });
    const remove = () => rmSync(dataFolder, { recursive: true, force: true });
    try {
      await server.start(signal);
    } catch (error) {
      remove();
      throw error;
    }
    const { url, user, password } = server.endpoint.owner;
    const client = createClient({
      ...{ url, username: user, password: password.reveal(), application: 'chancery dataset' },
      request_timeout: 3_600_000,
      log: { level: ClickHouseLogLevel.OFF },
    });
    return new FileServer(new ExportSource(client), readableFolder, async () => {
      await client.close();
      await server.stop();
      remove();
    });
  }
}
