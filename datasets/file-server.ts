import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, ScratchFolder } from '../core/index.js';
import { type ClickHouseEndpoint, EmbeddedClickHouse } from '../warehouse/index.js';
import { queryBytes } from './query-bytes.js';
import { ExportSource, openClient } from './source.js';

const MEMORY_BYTES = 1e9;
/** Rows that a query has in memory at once are a few blocks. Larger ones are not read faster. */
const BLOCK_ROWS = 8192;
const SETTINGS = {
  max_block_size: String(BLOCK_ROWS),
  input_format_parquet_max_block_size: String(BLOCK_ROWS),
  // Mapped files would count as memory of the process.
  storage_file_read_method: 'pread',
  // Else conditions are moved into the reader of the file, and `rowNumberInAllBlocks` does not count the rows that they drop.
  optimize_move_to_prewhere: 0,
} as const;

export interface FileServerOptions {
  readonly folder: string;
  /** More folders whose files it may read. */
  readonly moreFolders?: readonly string[];
  /** Runs it without restricting it to the folders, also where the kernel could. */
  readonly unconfined: boolean;
}

/** An embedded ClickHouse that has no data and reads the files of a folder. */
export class FileServer {
  private constructor(
    readonly source: ExportSource,
    private readonly endpoint: ClickHouseEndpoint,
    /** Absolute paths of the folders. */
    readonly folders: readonly [string, ...string[]],
    readonly close: () => Promise<void>,
  ) {}

  /** Absolute path of the folder. */
  get folder(): string {
    return this.folders[0];
  }

  /** The same server for a folder below those that it reads; closing that one does nothing. */
  below(folder: string): FileServer {
    return new FileServer(this.source, this.endpoint, [realpathSync(folder)], async () => undefined);
  }

  /**
   * Reads the result of a query while it runs.
   * @param query with its FORMAT clause
   * @param onBytes is called with each part of the result, which is valid only during the call
   */
  async bytes(query: string, onBytes: (bytes: Buffer) => void, signal: AbortSignal): Promise<void> {
    await queryBytes({ endpoint: this.endpoint, query, settings: SETTINGS }, onBytes, signal);
    // The result has no length: a server that was killed has ended it, too.
    await this.source.rows('SELECT 1', signal);
  }

  static async start(options: FileServerOptions, signal: AbortSignal): Promise<FileServer> {
    const { folder, moreFolders = [], unconfined } = options;
    const readableFolders = [realpathSync(folder), ...moreFolders.map((path) => realpathSync(path))] as const;
    const scratch = ScratchFolder.make('chancery-dataset-');
    const dataFolder = join(scratch.path, 'data');
    const server = new EmbeddedClickHouse({
      ...{ dataFolder, readableFolders, unconfined, database: 'default', httpPort: 0, memoryBytes: MEMORY_BYTES },
      logger: createLogger({ service: 'clickhouse', level: 'fatal', plain: true }),
    });
    try {
      await server.start(signal);
    } catch (error) {
      scratch.remove();
      throw error;
    }
    const endpoint = server.endpoint.owner;
    const client = openClient(endpoint, 'default', SETTINGS);
    return new FileServer(new ExportSource(client), endpoint, readableFolders, async () => {
      await client.close();
      await server.stop();
      scratch.remove();
    });
  }
}
