import type { Command } from 'commander';
import { Counter, Gauge, type Registry } from 'prom-client';
import { EmbeddedClickHouse, type EmbeddedEndpoint } from '../../warehouse/index.js';
import { runService } from '../service/run-service.js';

/** `chancery warehouse`: the embedded ClickHouse server of a data folder alone. */
export function define(command: Command): void {
  command
    .addHelpText(
      'after',
      '\nExamples:\n  chancery warehouse\n  chancery warehouse --data /srv/chancery --clickhouse-port 8123',
    )
    .action(() =>
      runService(command, 'clickhouse', ({ settings, log, metrics }) => {
        const server = new EmbeddedClickHouse({
          dataFolder: settings.data,
          database: settings.database,
          httpPort: settings.clickhousePort,
          tcpPort: settings.clickhouseNativePort,
          memoryBytes: settings.clickhouseMemory,
          readerMaxRows: settings.readerMaxRows,
          readerMaxSeconds: settings.readerMaxSeconds,
          unconfined: settings.clickhouseUnconfined,
          logger: log,
        });
        measure(server, metrics);
        return {
          components: [server],
          health: () => ({ ok: server.health.ready, detail: { ...server.health } }),
          about: () => ({ address: server.endpoint.url, ...nativePort(server.endpoint) }),
        };
      }),
    );
}

const nativePort = ({ tcpPort }: EmbeddedEndpoint) => (tcpPort === undefined ? {} : { tcpPort });

function measure(server: EmbeddedClickHouse, registry: Registry): void {
  const ready: Gauge = new Gauge({
    name: 'chancery_clickhouse_ready',
    help: '1 while the embedded ClickHouse responds',
    registers: [registry],
    collect: () => ready.set(server.health.ready ? 1 : 0),
  });
  const confined: Gauge = new Gauge({
    name: 'chancery_clickhouse_confined',
    help: '1 if the kernel restricts the embedded ClickHouse to its own files',
    registers: [registry],
    collect: () => confined.set(server.health.confined ? 1 : 0),
  });
  const restarts: Counter = new Counter({
    name: 'chancery_clickhouse_restarts_total',
    help: 'restarts of the embedded ClickHouse',
    registers: [registry],
    collect: () => {
      restarts.reset();
      restarts.inc(server.health.restarts);
    },
  });
}
