import { existsSync, readdirSync } from 'node:fs';

/**
 * The tests in four projects. `npm test` runs `fast` and `services`, `npm run test:chaos` the other two.
 *
 * - `fast`: every file that is not named below. No process but the test's own.
 * - `services`: needs ClickHouse or Kafka, of which one each serves all files, or processes that take up to 5 s.
 * - `chaos`: starts, kills or reconfigures servers of its own and takes longer than that.
 * - `timed`: the same, and has limits of time: one file at a time, after all others.
 */
export type Project = 'fast' | 'services' | 'chaos' | 'timed';

/** Files, or folders with everything below them but what `chaos` and `timed` name. */
const SERVICES = [
  'test/bench/interrupt.test.ts',
  'test/bots/process.test.ts',
  'test/bus/embedded-log.test.ts',
  'test/bus/embedded.test.ts',
  'test/bus/kafka-append.test.ts',
  'test/bus/kafka-consume.test.ts',
  'test/bus/kafka-secure.test.ts',
  'test/bus/kafka.test.ts',
  'test/cli/await-clickhouse.test.ts',
  'test/cli/command-line.test.ts',
  'test/cli/data-folder.test.ts',
  'test/cli/log-file.test.ts',
  'test/cli/port-claims.test.ts',
  'test/cli/registry.test.ts',
  'test/cli/status-quality.test.ts',
  'test/cli/status.test.ts',
  'test/client/docs-example.test.ts',
  'test/client/tls.test.ts',
  'test/collectors/',
  'test/core/lifecycle.test.ts',
  'test/core/process-identity.test.ts',
  'test/core/process-lock.test.ts',
  'test/datasets/',
  'test/deploy/',
  'test/exchange/engine-durability.test.ts',
  'test/exchange/server-conformance-auth.test.ts',
  'test/exchange/server-conformance-orders.test.ts',
  'test/exchange/server-conformance-records.test.ts',
  'test/exchange/server-conformance-streams.test.ts',
  'test/exchange/server-data.test.ts',
  'test/exchange/server-process.test.ts',
  'test/grafana/displays.test.ts',
  'test/kafka/worker.test.ts',
  'test/sql/',
  'test/transforms/native-block.test.ts',
  'test/transforms/price-rollup.test.ts',
  'test/transforms/worker-rebuild.test.ts',
  'test/transforms/worker-recovery.test.ts',
  'test/transforms/worker.test.ts',
  'test/viewer/memory.test.ts',
  'test/viewer/opened-dashboards.test.ts',
  'test/viewer/reduction.test.ts',
  'test/viewer/viewer-server.test.ts',
  'test/warehouse/connection.test.ts',
  'test/warehouse/exactly-once/clickhouse.test.ts',
  'test/warehouse/migrate.test.ts',
  'test/warehouse/row-binary-writer.test.ts',
];

const CHAOS = [
  'test/bus/kafka-broker-killed.test.ts',
  'test/certify/fault-run.test.ts',
  'test/certify/process.test.ts',
  'test/chaos/backpressure.test.ts',
  'test/chaos/collector-memory.test.ts',
  'test/chaos/loop.test.ts',
  'test/chaos/protections.test.ts',
  'test/chaos/random-sessions.test.ts',
  'test/chaos/rebalance.test.ts',
  'test/chaos/rebuild.test.ts',
  'test/chaos/worker-memory.test.ts',
  'test/cli/cluster.test.ts',
  'test/cli/doctor.test.ts',
  'test/cli/sql.test.ts',
  'test/cli/up-accounts.test.ts',
  'test/cli/up.test.ts',
  'test/datasets/damage.test.ts',
  'test/datasets/export.test.ts',
  'test/datasets/import.test.ts',
  'test/datasets/kills.test.ts',
  'test/datasets/python.test.ts',
  'test/datasets/readme.test.ts',
  'test/datasets/rebuild.test.ts',
  'test/datasets/release.test.ts',
  'test/datasets/tardis.test.ts',
  'test/datasets/verify.test.ts',
  'test/collectors/account-processes.test.ts',
  'test/collectors/skipped-chances.test.ts',
  'test/dashboards/',
  'test/faults/quick.test.ts',
  'test/deploy/package.test.ts',
  'test/deploy/services.test.ts',
  'test/kafka/broker-killed.test.ts',
  'test/kafka/cluster.test.ts',
  'test/pipeline/',
  'test/sql/engines/',
  'test/sql/one-event.test.ts',
  'test/viewer/dashboard-features.test.ts',
  'test/viewer/first-page.test.ts',
  'test/viewer/foreign-dashboards.test.ts',
  'test/viewer/new-instance.test.ts',
  'test/viewer/page.test.ts',
  'test/viewer/panel-types.test.ts',
  'test/warehouse/cluster/',
  'test/warehouse/embedded.test.ts',
  'test/warehouse/exactly-once/forgotten-tokens.test.ts',
];

const TIMED = [
  'test/chaos/connections.test.ts',
  'test/cli/up-stop-time.test.ts',
  'test/collectors/discovery-time.test.ts',
  'test/core/stop-times.test.ts',
];

/** Files that take longest, the slowest first: started last, they would run alone at the end. */
export const SLOWEST = [
  'test/chaos/loop.test.ts',
  'test/faults/quick.test.ts',
  'test/certify/process.test.ts',
  'test/chaos/backpressure.test.ts',
  'test/certify/fault-run.test.ts',
  'test/datasets/kills.test.ts',
  'test/dashboards/dashboards.test.ts',
  'test/warehouse/cluster/answers.test.ts',
  'test/datasets/damage.test.ts',
  'test/datasets/python.test.ts',
  'test/deploy/package.test.ts',
  'test/cli/up.test.ts',
  'test/warehouse/embedded.test.ts',
  'test/datasets/import.test.ts',
  'test/chaos/rebalance.test.ts',
  'test/viewer/page.test.ts',
  'test/chaos/worker-memory.test.ts',
  'test/pipeline/accounts.test.ts',
  'test/warehouse/cluster/failures.test.ts',
  'test/chaos/rebuild.test.ts',
  'test/chaos/protections.test.ts',
  'test/datasets/rebuild.test.ts',
  'test/collectors/skipped-chances.test.ts',
  'test/kafka/cluster.test.ts',
  'test/datasets/readme.test.ts',
  'test/pipeline/pipeline.test.ts',
  'test/chaos/collector-memory.test.ts',
  'test/sql/price-hours.test.ts',
  'test/sql/trade-order.test.ts',
  'test/sql/trade-rollups.test.ts',
  'test/bus/kafka-consume.test.ts',
  'test/viewer/opened-dashboards.test.ts',
  'test/transforms/worker-rebuild.test.ts',
  'test/sql/cookbook.test.ts',
  'test/sql/pnl.test.ts',
  'test/bus/kafka.test.ts',
  'test/warehouse/exactly-once/clickhouse.test.ts',
];

const named = (entries: readonly string[], file: string): boolean =>
  entries.some((entry) => (entry.endsWith('/') ? file.startsWith(entry) : file === entry));

/** @param file path from the root of the repository */
export function projectOf(file: string): Project {
  if (named(TIMED, file)) return 'timed';
  if (named(CHAOS, file)) return 'chaos';
  return named(SERVICES, file) ? 'services' : 'fast';
}

/** All test files, as paths from the root of the repository. */
export const testFiles = (): string[] =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`)
    .sort();

/** What is named above and does not exist. */
export const namedInVain = (): string[] =>
  [...SERVICES, ...CHAOS, ...TIMED, ...SLOWEST].filter((entry) => !existsSync(entry));

const globs = (entries: readonly string[]): string[] =>
  entries.map((entry) => (entry.endsWith('/') ? `${entry}**/*.test.ts` : entry));

/** For vitest's `include` and `exclude`. */
export const GLOBS = {
  all: ['test/**/*.test.ts'],
  services: globs(SERVICES),
  chaos: globs(CHAOS),
  timed: globs(TIMED),
};
