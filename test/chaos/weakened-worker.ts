import { join } from 'node:path';
import { Registry } from 'prom-client';
import { openBus } from '../../bus/index.js';
import { workerOptions } from '../../cli/service/service-options.js';
import { createLogger, describeError, loadConfig, processSignal, Secret } from '../../core/index.js';
import { TransformWorker } from '../../transforms/index.js';
import { Connection, migrate } from '../../warehouse/index.js';
import { type Protection, weakenedWriter } from './weakened.js';

/** The options of a weakened worker, as JSON in its first argument. */
export interface WeakenedOptions {
  /** Settings by name; a ClickHouse must be among them. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly without?: Protection;
}

const { settings: given, without } = JSON.parse(process.argv[2] ?? '{}') as WeakenedOptions;
const signal = processSignal(process.stdin);
const settings = loadConfig(given, {});
const log = createLogger({ service: 'transform', level: 'warn' });
const { clickhouseUrl: url = '', clickhouseUser: user, clickhousePassword, database } = settings;
const endpoint = { url, user, password: new Secret(clickhousePassword) };
const connection = new Connection({ endpoint, database, application: 'weakened worker' });
const bus = openBus(settings, { dir: join(settings.data, 'bus'), log });
await migrate(connection, { fsync: settings.fsync }, signal);
const worker = new TransformWorker({
  ...workerOptions(settings),
  bus,
  shards: [connection],
  log,
  metrics: new Registry(),
  newWriter: (options) => weakenedWriter(options, without),
});
worker.failed.catch((error) => {
  process.stderr.write(`${describeError(error)}\n`);
  process.exit(1);
});
await worker.start(signal);
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
await worker.stop();
await bus.close();
await connection.close();
process.exit(0);
