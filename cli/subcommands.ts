/** What a command connects to; it takes every setting with that need in `takenBy` (core/settings.ts). */
export type Need = 'long-running' | 'exchange addresses' | 'bus' | 'clickhouse';

export interface Subcommand {
  readonly about: string;
  /** Absent: the command takes no setting as a flag. */
  readonly needs?: readonly Need[];
}

/** The subcommands; `define` in the file `commands/NAME.ts` adds arguments, options and action. */
export const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  up: {
    about: 'run everything: exchange, collector, embedded log, transform worker, embedded ClickHouse, viewer',
    needs: ['exchange addresses', 'bus', 'clickhouse'],
  },
  exchange: {
    about: 'run only the simulated exchange: REST, streams, a matching engine and trading bots',
    needs: ['long-running'],
  },
  collect: {
    about: 'run only the collector: streams and polls of the exchange, onto the bus',
    needs: ['long-running', 'exchange addresses', 'bus'],
  },
  transform: {
    about: 'run only a transform worker: from the bus into ClickHouse, exactly once',
    needs: ['long-running', 'bus', 'clickhouse'],
  },
  view: {
    about: 'run only the viewer: a page in the browser that draws the dashboards',
    needs: ['long-running', 'clickhouse'],
  },
  warehouse: {
    about: 'run only the embedded ClickHouse server of the data folder',
    needs: ['long-running'],
  },
  migrate: {
    about: 'create or update the tables and views in ClickHouse',
    needs: ['clickhouse'],
  },
  sql: {
    about: 'run an SQL query as a read-only user',
    needs: ['clickhouse'],
  },
  export: {
    about: 'write the public tables to files, one per table and day: Parquet, CSV, JSON lines or tardis-csv',
    needs: ['bus', 'clickhouse'],
  },
  dataset: {
    about: 'verify a release of `export`, rebuild its tables, or compare it with another release',
    needs: [],
  },
  import: {
    about: 'create a new instance from the tables of a release',
    needs: [],
  },
  status: {
    about: 'show running services, lag, recorded data and gaps',
    needs: ['bus', 'clickhouse'],
  },
  certify: {
    about: 'record a simulated exchange, and compare ClickHouse with its ledger',
  },
  init: {
    about: 'write the .env file that docker-compose.yml needs, with new passwords',
  },
  doctor: {
    about: 'check this machine and the configuration, and say how to fix what is wrong',
    needs: ['exchange addresses', 'bus', 'clickhouse'],
  },
};
