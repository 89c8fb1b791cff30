import { setTimeout as delay } from 'node:timers/promises';
import { diskSpace } from '../../cli/doctor/machine.js';
import { serviceStatuses } from '../../cli/status/services.js';
import { systemClock } from '../../core/index.js';
import type { RigCommand } from '../pipeline/rig.js';
import { until } from '../support/until.js';
import { timeSql } from './clocks.js';
import type { FaultTarget, Kind } from './kind.js';
import type { FaultStage } from './stage.js';

/**
 * How long a killed process is away, how long a reader is stopped (changes that are read over 5 s late are no observation of
 * their time), and how long the disk is full.
 */
const DOWN_MS = { from: 0, to: 1500 };
const STOPPED_MS = { from: 7000, to: 10_000 };
const FULL_MS = { from: 2000, to: 6000 };
/** The embedded log refuses appends below 64 MiB. */
const FREE_MB = 20;

const down = ({ random }: FaultTarget) => delay(random.integer(DOWN_MS.from, DOWN_MS.to));

const disconnected = (connectionId: string) =>
  `SELECT 1 FROM collector_events WHERE type = 'disconnected' AND connection_id = '${connectionId}'`;

async function kill(
  { stage, ...target }: FaultTarget,
  command: RigCommand,
): Promise<{ at: number; detectedAt: number }> {
  const at = systemClock.nowMicros();
  const killed = stage.rig.service(command).pid;
  await stage.rig.service(command).kill9();
  const detectedAt = await shown(async () => !(await services(stage)).some(({ pid }) => pid === killed));
  await down({ stage, ...target });
  await stage.startPart(command);
  return { at, detectedAt };
}

/** What `chancery status` lists. */
const services = ({ rig }: FaultStage) => serviceStatuses(rig.folder);

/** Waits until something is shown, and returns that moment, Unix microseconds. */
async function shown(question: () => Promise<boolean>): Promise<number> {
  await until(question);
  return systemClock.nowMicros();
}

/** How often the supervisor has started ClickHouse again. */
async function clickHouseRestarts(stage: FaultStage): Promise<number> {
  const health = (await services(stage)).find(({ service }) => service === 'clickhouse')?.health;
  const metrics = await (await fetch(`${health}/metrics`)).text();
  return Number(/^chancery_clickhouse_restarts_total (\d+)$/m.exec(metrics)?.[1]);
}

const KINDS: readonly Kind[] = [
  {
    name: 'kill -9 of the collector',
    expected: 'detected',
    cause: async (target) => {
      const session = await target.stage.rig.value<string>(
        "SELECT argMax(session_id, recorded_at) FROM collector_events WHERE type = 'heartbeat'",
      );
      const { at } = await kill(target, 'collect');
      return { at, evidence: `SELECT 1 FROM sessions WHERE state = 'died' AND session_id = '${session}'` };
    },
  },
  {
    name: 'kill -9 of the worker',
    expected: 'detected',
    cause: (target) => kill(target, 'transform'),
  },
  {
    name: 'kill -9 of ClickHouse',
    expected: 'detected',
    cause: async ({ stage }) => {
      const pid = await stage.clickHousePid();
      if (pid === undefined) throw new Error('no ClickHouse runs');
      const before = await clickHouseRestarts(stage);
      const at = systemClock.nowMicros();
      process.kill(pid, 'SIGKILL');
      const detectedAt = await shown(async () => (await clickHouseRestarts(stage)) > before);
      await until(async () => (await stage.clickHousePid()) !== pid);
      return { at, detectedAt };
    },
  },
  {
    name: "kill -9 of ClickHouse's supervisor",
    expected: 'detected',
    cause: (target) => kill(target, 'warehouse'),
  },
  {
    name: 'kill -9 of the exchange',
    expected: 'detected',
    cause: async (target) => {
      const { stage, connectionId } = target;
      const at = systemClock.nowMicros();
      await stage.rig.service('exchange').kill9();
      await down(target);
      await stage.restartExchange();
      return {
        at,
        evidence: disconnected(connectionId),
      };
    },
  },
  {
    name: 'slow reader: SIGSTOP of the collector',
    expected: 'detected',
    cause: async ({ stage, random }) => {
      const at = systemClock.nowMicros();
      const service = stage.rig.service('collect');
      service.signal('SIGSTOP');
      await delay(random.integer(STOPPED_MS.from, STOPPED_MS.to));
      service.signal('SIGCONT');
      const evidence = `SELECT 1 FROM collector_events
        WHERE type IN ('stale', 'disconnected') AND stream = 'order-book' AND recorded_at >= ${timeSql(at)}`;
      return { at, evidence };
    },
  },
  {
    name: 'disk full',
    expected: 'detected',
    unavailable: ({ disk }) => (disk ? undefined : 'it takes the right to mount a file system'),
    cause: async ({ stage, random }) => {
      const { disk } = stage;
      if (!disk) throw new Error('the data folder has no disk of its own');
      const isFull = async () => (await diskSpace(stage.rig.folder, async () => null)).state === 'fail';
      if (await isFull()) throw new Error('the disk is full already');
      const at = systemClock.nowMicros();
      disk.fill(FREE_MB);
      const detectedAt = await shown(isFull);
      await delay(random.integer(FULL_MS.from, FULL_MS.to));
      disk.free();
      return { at, detectedAt };
    },
  },
];

export const PROCESS_KINDS: readonly Kind[] = KINDS.map((kind) => ({ ...kind, alone: true }));
