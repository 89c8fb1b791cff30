import type { Command } from 'commander';

/** What a command needs to reach; it takes every setting that names the need in `takenBy` (core/settings.ts). */
export type Need = 'long-running' | 'exchange addresses' | 'bus' | 'clickhouse';

export interface Subcommand {
  readonly about: string;
  /** Absent: the command takes no settings at all. */
  readonly needs?: readonly Need[];
  /** Imported only when requested: a query in SQL does not wait for the exchange's engine to load. */
  readonly load: () => Promise<{ define(command: Command): void }>;
}

/** The subcommands; `define` adds the arguments, options and action of one. */
export const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  up: {
    about: 'run everything: exchange, collector, embedded log, transform worker, embedded ClickHouse',
    needs: ['exchange addresses', 'bus', 'clickhouse'],
    load: () => import('./commands/up.js'),
  },
  exchange: {
    about: 'run only the simulated exchange: REST, streams, a matching engine and trading bots',
    needs: ['long-running'],
    load: () => import('./commands/exchange.js'),
  },
  collect: {
    about: 'run only the collector: streams and polls of the exchange, onto the bus',
    needs: ['long-running', 'exchange addresses', 'bus'],
    load: () => import('./commands/collect.js'),
  },
  transform: {
    about: 'run only a transform worker: from the bus into ClickHouse, exactly once',
    needs: ['long-running', 'bus', 'clickhouse'],
    load: () => import('./commands/transform.js'),
  },
  warehouse: {
    about: 'run only the embedded ClickHouse server of the data folder',
    needs: ['long-running'],
    load: () => import('./commands/warehouse.js'),
  },
  migrate: {
    about: 'create or update the tables and views in ClickHouse',
    needs: ['clickhouse'],
    load: () => import('./commands/migrate.js'),
  },
  sql: {
    about: 'run an SQL query as a read-only user',
    needs: ['clickhouse'],
    load: () => import('./commands/sql.js'),
  },
  status: {
    about: 'show running parts, lag, recorded data and gaps',
    needs: ['bus', 'clickhouse'],
    load: () => import('./commands/status.js'),
  },
  init: {
    about: 'write the .env file that docker-compose.yml needs, with new passwords',
    load: () => import('./commands/init.js'),
  },
  doctor: {
    about: 'check this machine and the configuration, and say how to fix what is wrong',
    needs: ['exchange addresses', 'bus', 'clickhouse'],
    load: () => import('./commands/doctor.js'),
  },
};
