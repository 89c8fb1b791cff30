import type { Command } from 'commander';
import type { Component } from '../../core/index.js';
import { TransformWorker } from '../../transforms/index.js';
import { awaitWarehouse, untilAvailable, type Warehouse } from '../service/database.js';
import { assertInstance, closing, openBus } from '../service/instance.js';
import { runService, type ServiceContext } from '../service/run-service.js';
import { workerOptions } from '../service/service-options.js';

const EXAMPLES = `
Examples:
  chancery transform
  CLICKHOUSE_URL=https://clickhouse.example:8443 chancery transform --no-keep-bodies
`;

/** `chancery transform`: a worker that turns records of the bus into rows. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(() =>
    runService(
      command,
      'transform',
      async (context) => {
        const { settings, log, metrics } = context;
        const warehouse = await awaitWarehouse('chancery transform', context);
        const bus = openBus(settings, log);
        const worker = new TransformWorker({ ...workerOptions(settings), bus, shards: warehouse.shards, log, metrics });
        return {
          components: [closing(bus), database(warehouse, context), worker],
          health: () => worker.health(),
          failed: worker.failed,
        };
      },
      assertInstance,
    ),
  );
}

/** Migrates the database as soon as it responds, before the worker starts; closes the connection after it has stopped. */
function database(warehouse: Warehouse, context: ServiceContext): Component {
  return {
    name: 'database',
    start: (signal) => untilAvailable(context, () => warehouse.prepare(context.log, signal)),
    stop: () => warehouse.close(),
  };
}
