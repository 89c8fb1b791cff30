import { Secret, type Settings, UnavailableError } from '../../core/index.js';
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

/** Brings tables and views of the instance's database up to date; harmless when they are. */
export async function migrateInstance(settings: Settings, signal: AbortSignal): Promise<MigrateResult> {
  const connection = await connectOwner(settings, 'chancery migrate');
  try {
    return await migrate(connection, { fsync: settings.fsync }, signal);
  } finally {
    await connection.close();
  }
}
