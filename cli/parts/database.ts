import { describeError, OutageLog, retry, Secret, type Settings, UnavailableError } from '../../core/index.js';
import { Connection, findEmbedded, type MigrateResult, migrate } from '../../warehouse/index.js';
import type { PartContext } from './run-part.js';

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

/** Longest pause between two looks whether ClickHouse is there, milliseconds. */
const LOOK_AGAIN_MS = 500;

type Waiting = Pick<PartContext, 'settings' | 'log' | 'signal' | 'waits'>;

/** As `connectOwner`; while the embedded ClickHouse of the data folder is not there, it waits for it. */
export function awaitOwner(application: string, context: Waiting): Promise<Connection> {
  return untilAvailable(context, () => connectOwner(context.settings, application));
}

/**
 * Tries until ClickHouse is there, which the log says once and /healthz all the time; other errors are thrown, and the
 * signal's reason when it is aborted.
 */
export async function untilAvailable<T>(context: Waiting, work: () => Promise<T>): Promise<T> {
  const { log, signal, waits } = context;
  const outage = new OutageLog(log, 'ClickHouse is there');
  const result = await retry(work, {
    attempts: Number.POSITIVE_INFINITY,
    capMs: LOOK_AGAIN_MS,
    signal,
    onRetry: (error) => {
      const reason = describeError(error);
      waits(`waiting for ClickHouse: ${reason}`);
      outage.failed(reason);
    },
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  waits('starting');
  outage.succeeded();
  return result;
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
