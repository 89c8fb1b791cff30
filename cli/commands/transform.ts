import type { Command } from 'commander';
import { type Component, describeError, type Logger, OutageLog, retry } from '../../core/index.js';
import { TransformWorker } from '../../transforms/index.js';
import { type Connection, migrate } from '../../warehouse/index.js';
import { awaitOwner } from '../parts/database.js';
import { closing, openBus } from '../parts/instance.js';
import { runPart } from '../parts/run-part.js';
import { withSettings } from '../settings.js';
import { TRANSFORM } from '../settings-by-command.js';

const EXAMPLES = `
Examples:
  chancery transform
  CLICKHOUSE_URL=https://clickhouse.example:8443 chancery transform --no-keep-bodies
`;

/** `chancery transform`: a worker that makes rows of what is on the bus. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(() =>
    runPart(command, 'transform', async ({ settings, log, metrics, signal }) => {
      const connection = await awaitOwner(settings, 'chancery transform', log, signal);
      const bus = openBus(settings, log);
      const worker = new TransformWorker({ settings, bus, shards: [connection], log, metrics });
      return {
        components: [closing(bus), database(connection, settings.fsync, log), worker],
        health: () => worker.health(),
        failed: worker.failed,
      };
    }),
  );
  withSettings(command, TRANSFORM);
}

/** The database, brought up to date before the worker starts, as soon as it answers, and let go after it has stopped. */
function database(connection: Connection, fsync: boolean, log: Logger): Component {
  return {
    name: 'database',
    start: async (signal) => {
      const outage = new OutageLog(log, 'ClickHouse is there');
      await retry(() => migrate(connection, { fsync }, signal), {
        attempts: Number.POSITIVE_INFINITY,
        baseMs: 200,
        capMs: 2000,
        signal,
        onRetry: (error) => outage.failed(describeError(error)),
      });
      outage.succeeded();
    },
    stop: () => connection.close(),
  };
}
