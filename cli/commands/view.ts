import type { Command } from 'commander';
import { Counter, Gauge, type Registry } from 'prom-client';
import { DEFAULT_PORTS, keepHeapSmall, systemClock } from '../../core/index.js';
import { dashboardFolder, readToken, type ViewerMetrics, ViewerServer } from '../../viewer/index.js';
import { findEmbedded, shardDatabase } from '../../warehouse/index.js';
import { clickHouseTarget } from '../service/clickhouse-target.js';
import { assertInstance, instancePaths } from '../service/instance.js';
import { findReadOnly } from '../service/read-only.js';
import { runService } from '../service/run-service.js';
import { PortClaims } from '../up/port-claims.js';

const EXAMPLES = `
Examples:
  chancery view
  chancery view --viewer-port 8081 --dashboards ./my-dashboards
  CLICKHOUSE_URL=https://clickhouse.example:8443 chancery view
`;

/** `chancery view`: draws the dashboards in the browser. */
export function define(command: Command): void {
  command.addHelpText('after', EXAMPLES.trimEnd()).action(() =>
    runService(
      command,
      'view',
      async ({ settings, log, metrics }) => {
        keepHeapSmall();
        const claims = new PortClaims();
        const server: ViewerServer = new ViewerServer({
          host: settings.viewerHost,
          publicUrl: settings.viewerPublicUrl,
          databases: [settings.database, shardDatabase(settings.database)],
          port: settings.viewerPort === 0 ? await claims.claimFrom(DEFAULT_PORTS.viewer) : settings.viewerPort,
          dashboards: settings.dashboards ?? dashboardFolder(),
          connect: () => findReadOnly(settings),
          consoleUrl: async () =>
            clickHouseTarget(settings).kind === 'embedded' ? (await findEmbedded(settings.data))?.url : undefined,
          token: settings.viewerLogin ? readToken(instancePaths(settings.data).viewerToken) : undefined,
          clock: systemClock,
          log,
          metrics: viewerMetrics(metrics, () => server.running),
        });
        const claimed = { name: 'port', start: () => Promise.resolve(), stop: async () => claims.release() };
        return {
          components: [claimed, server],
          health: () => ({ ok: true, detail: { running: server.running } }),
          about: () => ({ address: server.url }),
        };
      },
      assertInstance,
    ),
  );
}

/** @param running number of queries that ClickHouse is running */
function viewerMetrics(registry: Registry, running: () => number): ViewerMetrics {
  const registers = [registry];
  new Gauge({
    name: 'chancery_viewer_queries_in_flight',
    help: 'queries of the viewer that ClickHouse is running',
    registers,
    collect() {
      this.set(running());
    },
  });
  return {
    queries: new Counter({
      name: 'chancery_viewer_requests_total',
      help: 'data requests of pages, by outcome: done, failed, cancelled',
      labelNames: ['outcome'],
      registers,
    }),
    refused: new Counter({
      name: 'chancery_viewer_refused_requests_total',
      help: 'requests that were refused for their Host, Origin or Sec-Fetch-Site',
      registers,
    }),
  };
}
