import type { Command } from 'commander';
import { Gauge, type Registry } from 'prom-client';
import { EmbeddedClickHouse, type EmbeddedEndpoint } from '../../warehouse/index.js';
import { runPart } from '../parts/run-part.js';

/** `chancery warehouse`: only the embedded ClickHouse server of a data folder. */
export function define(command: Command): void {
  command
    .addHelpText(
      'after',
      '\nExamples:\n  chancery warehouse\n  chancery warehouse --data /srv/chancery --clickhouse-port 8123',
    )
    .action(() =>
      runPart(command, 'clickhouse', ({ settings, log, metrics }) => {
        const server = new EmbeddedClickHouse({
          dataFolder: settings.data,
          database: settings.database,
          httpPort: settings.clickhousePort,
          tcpPort: settings.clickhouseNativePort,
          memoryBytes: settings.clickhouseMemory,
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
  const restarts: Gauge = new Gauge({
    name: 'chancery_clickhouse_restarts',
    help: 'restarts of the embedded ClickHouse',
    registers: [registry],
    collect: () => restarts.set(server.health.restarts),
  });
}
