import type { Command } from 'commander';
import type { Component } from '../../core/index.js';
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
        components: [closing(bus), database(connection, settings.fsync), worker],
        health: () => worker.health(),
        failed: worker.failed,
      };
    }),
  );
  withSettings(command, TRANSFORM);
}

/** The database, brought up to date before the worker starts and let go after it has stopped. */
function database(connection: Connection, fsync: boolean): Component {
  return {
    name: 'database',
    start: async (signal) => {
      await migrate(connection, { fsync }, signal);
    },
    stop: () => connection.close(),
  };
}
