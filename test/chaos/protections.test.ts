import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { type EmbeddedEndpoint, findEmbedded } from '../../warehouse/index.js';
import type { DirectedFault } from '../support/fault-proxy.js';
import { until } from '../support/until.js';
import { priceRecord } from '../transforms/support.js';
import { type Audit, Auditor, totals } from './audit.js';
import { explain } from './explain.js';
import { Stage } from './stage.js';
import type { Protection } from './weakened.js';

/** The fault of the next insert into a table, on a stage with three new records and one worker. */
interface Scenario {
  readonly name: string;
  readonly faults: (scene: Scene) => Readonly<Record<string, DirectedFault>>;
  readonly found: 'missing' | 'duplicate';
}

interface Scene {
  readonly stage: Stage;
  /** Appends new records. */
  readonly append: (count: number) => Promise<void>;
  /** Faults of the next insert into each table, and those that were injected. */
  readonly pending: Map<string, DirectedFault>;
  readonly injected: Promise<void>[];
}

/**
 * Faults at the one moment that each protection is for, on real processes: with all of them every row is stored once;
 * with one disabled, the audit of the chaos loop finds missing or duplicate rows.
 */
const SCENARIOS: Readonly<Record<Protection, Scenario>> = {
  intent: {
    name: 'a worker that is killed with half of its batch inserted, while more records arrive',
    found: 'duplicate',
    faults: ({ stage, append }) => ({
      raw_records: async () => undefined,
      price_ticks: async ({ forward }) => {
        await forward();
        await append(3);
        await stage.workers[0]?.kill();
      },
    }),
  },
  token: {
    name: 'an insert that reaches ClickHouse after its worker gave it up and sent it again',
    found: 'duplicate',
    faults: ({ stage }) => ({
      price_ticks: async ({ forward, reset }) => {
        reset();
        await stage.rig.drained();
        await forward();
      },
    }),
  },
  'read-back': {
    name: 'a ClickHouse that is killed when it has noted the token and not yet the rows',
    found: 'missing',
    faults: ({ stage }) => ({
      price_ticks: async ({ forward, reset }) => {
        await forward();
        await loseRows(stage);
        reset();
      },
    }),
  },
};

describe('each protection of an insert is needed:', () => {
  describe('with all of them,', () => {
    let scene: Scene;
    beforeAll(async () => {
      scene = await startScene();
    });
    afterAll(() => scene?.stage.close());

    // The first one deletes all rows of a table, which must not have those of another scenario.
    for (const protection of ['read-back', 'intent', 'token'] as const) {
      const scenario = SCENARIOS[protection];
      it(`${scenario.name} neither loses nor duplicates rows`, async () => {
        expect(totals(await play(scene, scenario))).toMatchObject({ missing: 0, duplicate: 0 });
      });
    }
  });

  for (const [protection, scenario] of Object.entries(SCENARIOS) as [Protection, Scenario][]) {
    it(`without the ${protection}, rows are ${scenario.found}`, async () => {
      const scene = await startScene(protection);
      onTestFinished(() => scene.stage.close());
      const audit = await play(scene, scenario);
      expect(totals(audit)[scenario.found]).toBeGreaterThan(0);
      if (protection === 'intent') await expectExplained(scene, audit);
    });
  }
});

/** The origin of the duplicate rows is reported: the rows, their parts, and every insert of them. */
async function expectExplained({ stage }: Scene, { tables }: Audit): Promise<void> {
  const wrong = tables.get('price_ticks');
  if (!wrong) throw new Error('nothing was compared');
  const lines = await explain(stage.rig, stage.journal, 'price_ticks', wrong);
  expect(wrong.duplicate.length).toBe(3);
  expect(lines[0]).toMatch(/^price_ticks, .* offsets 0 1 2:$/);
  expect(lines.filter((line) => / rows? in part /.test(line))).not.toEqual([]);
  const inserts = lines.filter((line) => line.includes('insert into price_ticks'));
  expect(inserts.map((line) => /: 200 at .*\/(\d+-\d+)$/.exec(line)?.[1])).toEqual(['0-2', '0-5']);
  expect(inserts[0]).toContain('fault directed');
}

/** A stage without a worker. */
async function startScene(without?: Protection): Promise<Scene> {
  const pending = new Map<string, DirectedFault>();
  const injected: Promise<void>[] = [];
  const fault = (path: string) => {
    const table = /INSERT INTO `chancery`\.`(\w+)`/.exec(path)?.[1] ?? '';
    const directed = pending.get(table);
    pending.delete(table);
    return directed && (((request) => track(injected, directed(request))) satisfies DirectedFault | undefined);
  };
  const size = { workers: 0, appenders: 0, recordsPerSecond: 0, load: 0 };
  const stage = await Stage.start({ bus: 'embedded', seed: 1, ...size, fault, ...(without ? { without } : {}) });
  let n = 0;
  const append = async (count: number) => {
    const values = Array.from({ length: count }, () => priceRecord(++n));
    await stage.rig.bus.append(
      TOPICS.orderBook,
      values.map((value) => ({ key: 'k', value })),
    );
  };
  return { stage, append, pending, injected };
}

/** Arms the faults, and appends the records whose inserts get them; returns the audit when everything is written. */
async function play(scene: Scene, { faults }: Scenario): Promise<Audit> {
  const { stage, append, pending, injected } = scene;
  for (const [table, directed] of Object.entries(faults(scene))) pending.set(table, directed);
  await append(3);
  if (stage.workers.length === 0) await stage.addWorker().start();
  await stage.rig.drained();
  await Promise.all(injected);
  // Including records appended meanwhile.
  await stage.rig.drained();
  expect(pending.size, 'faults that were never injected').toBe(0);
  const auditor = new Auditor(stage.rig, stage.acknowledgedFolder);
  await auditor.readBus();
  return auditor.audit();
}

function track(injected: Promise<void>[], fault: Promise<void>): Promise<void> {
  injected.push(fault);
  return fault;
}

/**
 * Brings the disk into the state of a kill between the token, which ClickHouse writes first, and the rows: the part is not
 * renamed to its final name. (ClickHouse removes a part with a temporary name at start.)
 */
async function loseRows({ rig }: Stage): Promise<void> {
  const before = await findEmbedded(rig.folder);
  const parts = await rig.rows<{ path: string }>(
    "SELECT path FROM system.parts WHERE database = 'chancery' AND table = 'price_ticks' AND active",
  );
  if (!before || parts.length === 0) throw new Error('there is no part to lose');
  process.kill(before.pid, 'SIGKILL');
  for (const { path } of parts) rmSync(path, { recursive: true });
  await until(async () => isAnother(await findEmbedded(rig.folder), before.pid) || 'ClickHouse is away');
}

const isAnother = (endpoint: EmbeddedEndpoint | undefined, pid: number): boolean =>
  endpoint !== undefined && endpoint.pid !== pid;
