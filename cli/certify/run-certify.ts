import { join } from 'node:path';
import { type Action, type Certificate, ControlInterface, isPassed, planOf, sizeOf } from '../../certify/index.js';
import {
  processSignal,
  resolveConfig,
  ScratchFolder,
  SETTINGS,
  type Settings,
  systemClock,
  UnavailableError,
  UsageError,
} from '../../core/index.js';
import { openDataFolder } from '../service/data-folder.js';
import { openBusReadOnly } from '../service/instance.js';
import { InstanceRun } from '../up/instance-run.js';
import { accountsOf, type CertifiedExchange, controlOf, settingsFor } from './certified-exchange.js';
import { compareIdle } from './idle-comparison.js';
import { Injection } from './injection.js';
import { OwnerQuery } from './owner-query.js';
import { releasedCoverage } from './released-coverage.js';

const READY_MS = 200;
/** Audits in a run, twice as many as an estimate needs, and the shortest interval between those of an event. */
const AUDITS = 600;
const MIN_AUDIT_MS = 1000;

/**
 * Settings for a run of minutes: what an instance does in an hour, more often. The histories are polled after the lists that they are
 * compared with, so that each round can be reconciled.
 */
const OFTEN = {
  requestsPerSecond: '300',
  holdingsSchedule: '*/5 * * * * *',
  tradesSchedule: '2-59/5 * * * * *',
  transactionsSchedule: '2-59/5 * * * * *',
  statsSchedule: '*/10 * * * * *',
};

export interface CertifyOptions {
  readonly exchange: CertifiedExchange;
  readonly minutes: number;
  /** Whether faults are armed and processes killed. */
  readonly faults: boolean;
  readonly seed: number;
  /** Number of events that are open at the same time. */
  readonly events: number;
  /** Keeps the data in this folder; a temporary one is removed at the end. */
  readonly keep: string | undefined;
  readonly onMessage: (text: string) => void;
}

/** Records a simulated exchange for a while, and compares its ledger with what was recorded. */
export async function runCertify(options: CertifyOptions): Promise<Certificate> {
  const signal = processSignal();
  if (options.keep !== undefined) return await certifyIn(options.keep, options, signal);
  const scratch = ScratchFolder.make('chancery-certify-');
  try {
    return await certifyIn(join(scratch.path, 'data'), options, signal);
  } finally {
    scratch.remove();
  }
}

async function certifyIn(folder: string, options: CertifyOptions, signal: AbortSignal): Promise<Certificate> {
  const { exchange, minutes, seed, onMessage } = options;
  openDataFolder(folder, '--keep');
  const settings = settingsIn(folder, options);
  const instance = new InstanceRun({
    settings,
    given: settingsFor(exchange).given,
    exchangePort: undefined,
    exchangeFlags: exchange.kind === 'own' ? ['--print-bots', '--seed', String(seed), ...exchange.flags] : [],
    // That bots cannot trade is no news once trading is closed.
    onMessage: (text) => (text.startsWith('exchange: the bot') ? undefined : onMessage(text)),
  });
  const control = () => controlOf(exchange, instance);
  const warehouse = new OwnerQuery(folder, settings.database);
  try {
    if (exchange.kind === 'running') await controlInterface(control()).faults();
    onMessage(exchange.kind === 'own' ? 'starting an exchange with bots, and the pipeline' : 'starting the pipeline');
    await instance.start(signal);
    const recordedFrom = Date.now() * 1000;
    const injection = new Injection({ instance, data: folder, exchange: control, onMessage });
    const plan = options.faults ? planOf(seed, minutes * 60_000) : [];
    await record(instance, injection, { ...options, plan }, signal);
    const { comparisons, faults } = await comparison(recordedFrom, injection);
    const passed = isPassed(comparisons);
    return { seed, minutes, passed, planned: sizeOf(plan), faults, kills: injection.kills, comparisons };
  } finally {
    await warehouse.close();
    await instance.stop();
  }

  async function comparison(recordedFrom: number, injection: Injection) {
    const bus = openBusReadOnly(instance.settings);
    if (!bus) throw new UnavailableError('nothing was recorded');
    const idle = {
      ...{ bus, recordedFrom, onMessage, query: warehouse.query, kills: injection.kills },
      control: controlInterface(control()),
      accounts: accountsOf(exchange, instance.settings),
      group: instance.settings.group,
      used: () => injection.used(),
      released: () => releasedCoverage(instance.settings, bus, signal),
    };
    try {
      return await compareIdle(idle, signal);
    } finally {
      await bus.close();
      if (exchange.kind === 'running') await idle.control.setTrading(true);
    }
  }
}

const controlInterface = ({ url, token }: { url: string; token: string }): ControlInterface =>
  new ControlInterface(url, token);

/** Records for as long as planned, with faults and kills if wanted; in the end every service is running. */
async function record(
  instance: InstanceRun,
  injection: Injection,
  { minutes, plan, onMessage }: CertifyOptions & { readonly plan: readonly Action[] },
  signal: AbortSignal,
): Promise<void> {
  const [startedAt, durationMs] = [performance.now(), minutes * 60_000];
  onMessage(`recording for ${minutes} min`);
  await injection.perform(plan, startedAt, signal);
  await systemClock.sleep(Math.max(0, startedAt + durationMs - performance.now()), signal);
  await started(instance, signal);
  if (plan.length > 0 && !(await injection.applied(signal))) onMessage('faults are armed that were not applied yet');
}

async function started(instance: InstanceRun, signal: AbortSignal): Promise<void> {
  while (instance.services.some(({ state }) => state !== 'ready')) {
    const failed = instance.services.find(({ state }) => state === 'failed');
    if (failed) throw new UnavailableError(`${failed.name} failed and is not restarted`);
    await systemClock.sleep(READY_MS, signal);
  }
}

/** @throws UsageError when a server outside of the folder is configured */
function settingsIn(data: string, { exchange, minutes, events }: CertifyOptions): Settings {
  const perAudit = (minutes * 60_000 * events) / AUDITS;
  const auditMs = String(Math.min(SETTINGS.auditMs.default, Math.max(MIN_AUDIT_MS, Math.round(perAudit))));
  const { settings } = resolveConfig({ ...OFTEN, ...settingsFor(exchange).values, auditMs, data });
  const { clickhouseUrl, clickhouseCluster, kafkaBrokers } = settings;
  if ((clickhouseUrl ?? clickhouseCluster ?? kafkaBrokers) !== undefined) {
    throw new UsageError(
      'chancery certify runs an instance of its own on embedded servers; unset CLICKHOUSE_URL, CLICKHOUSE_CLUSTER and KAFKA_BROKERS',
    );
  }
  return settings;
}
