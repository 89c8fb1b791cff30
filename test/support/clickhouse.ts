import { afterAll, beforeAll } from 'vitest';
import { claimLayout } from '../../cli/service/instance.js';
import { createLogger } from '../../core/index.js';
import { EmbeddedClickHouse, type EmbeddedEndpoint, type EmbeddedOptions } from '../../warehouse/index.js';
import { runAs } from './run-as.js';
import { removeFolder, temporaryFolder } from './temporary-folder.js';

export interface TestClickHouse {
  readonly server: EmbeddedClickHouse;
  readonly endpoint: EmbeddedEndpoint;
  /** Data folder of the instance. */
  readonly dataFolder: string;
  /** Runs one statement as the owner; throws with the server's words when it fails. */
  run(sql: string): Promise<string>;
  /** Rows of a SELECT as the owner, as objects; 64-bit integers are numbers where they are exact. */
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  stop(): Promise<void>;
}

/** Starts an embedded ClickHouse in a new folder below the temporary folder. Compiled code must be in dist/. */
export async function startClickHouse(
  options: Partial<Pick<EmbeddedOptions, 'database' | 'memoryBytes' | 'tcpPort' | 'cluster' | 'dataFolder'>> = {},
): Promise<TestClickHouse> {
  const dataFolder = options.dataFolder ?? temporaryFolder();
  const server = new EmbeddedClickHouse({
    dataFolder,
    database: 'chancery',
    httpPort: 0,
    memoryBytes: 3e9,
    ...options,
    logger: createLogger({ service: 'clickhouse', level: 'fatal' }),
  });
  const stop = async () => {
    await server.stop();
    removeFolder(dataFolder);
  };
  if (options.dataFolder === undefined) claimLayout(dataFolder);
  try {
    await server.start(new AbortController().signal);
  } catch (error) {
    await stop();
    throw error;
  }
  const run = (sql: string) => runAs(server.endpoint.owner, sql);
  return {
    server,
    dataFolder,
    get endpoint() {
      return server.endpoint;
    },
    run,
    rows: async <T>(sql: string) =>
      (await run(`${sql} SETTINGS output_format_json_quote_64bit_integers=0 FORMAT JSONEachRow`))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as T),
    stop,
  };
}

/** One embedded ClickHouse for a test file: started before its tests, stopped and removed after them. */
export function useClickHouse(options: { database?: string; memoryBytes?: number } = {}): {
  readonly clickhouse: TestClickHouse;
} {
  let started: TestClickHouse | undefined;
  beforeAll(async () => {
    started = await startClickHouse(options);
  });
  afterAll(async () => {
    await started?.stop();
  });
  return {
    get clickhouse() {
      if (!started) throw new Error('the ClickHouse of this test file is not running');
      return started;
    },
  };
}
