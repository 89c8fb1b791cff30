import { existsSync } from 'node:fs';
import { type Logger, Secret, type Settings, systemClock, UnavailableError } from '../../core/index.js';
import { Connection, findEmbedded, type MigrateResult, migrate } from '../../warehouse/index.js';

/**
 * Connects as the user who may do everything, to the configured ClickHouse or to the embedded one of the data folder.
 * @throws UnavailableError when neither is there
 */
export async function connectOwner(settings: Settings, application: string): Promise<Connection> {
  const { clickhouseUrl: url, clickhouseUser: user, clickhousePassword: password, database } = settings;
  if (url !== undefined) {
    return new Connection({ endpoint: { url, user, password: new Secret(password) }, database, application });
  }
  const running = await findEmbedded(settings.data);
  if (!running) {
    throw new UnavailableError(
      `no ClickHouse runs on ${settings.data}; start it with \`chancery warehouse --data ${settings.data}\`, ` +
        'or name another with --clickhouse-url',
    );
  }
  return new Connection({ endpoint: running.owner, database, application });
}

/** How often it is looked whether the embedded ClickHouse is there, milliseconds. */
const LOOK_AGAIN_MS = 500;

/**
 * As `connectOwner`; while the embedded ClickHouse of an existing data folder is not there, it waits for it and says so
 * once.
 * @throws UnavailableError when there is no such folder; the signal's reason when it is aborted
 */
export async function awaitOwner(
  settings: Settings,
  application: string,
  log: Logger,
  signal: AbortSignal,
): Promise<Connection> {
  for (let round = 0; ; round++) {
    signal.throwIfAborted();
    try {
      const connection = await connectOwner(settings, application);
      if (round > 0) log.info('ClickHouse is there');
      return connection;
    } catch (error) {
      if (!(error instanceof UnavailableError) || !existsSync(settings.data)) throw error;
      if (round === 0) log.warn(`${error.message}; waiting for it`);
    }
    await systemClock.sleep(LOOK_AGAIN_MS, signal);
  }
}

/** Brings tables and views of the instance's database up to date; harmless when they are. */
export async function migrateInstance(settings: Settings, signal: AbortSignal): Promise<MigrateResult> {
  const connection = await connectOwner(settings, 'chancery migrate');
  try {
    return await migrate(connection, { fsync: settings.fsync }, signal);
  } finally {
    await connection.close();
  }
}
