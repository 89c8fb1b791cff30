import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';
import type { Stage } from './stage.js';
import type { Tally } from './tally.js';
import type { Turns } from './turns.js';

export interface ChaosContext {
  readonly stage: Stage;
  readonly tally: Tally;
  readonly turns: Turns;
  /** Aborted to end the loops. */
  readonly signal: AbortSignal;
}

/** One loop per kind of process, each with its own random numbers. */
export function killers(context: ChaosContext & { readonly seed: number }): Promise<void>[] {
  const { stage, seed } = context;
  const loop = (n: number, fromMs: number, toMs: number, act: (random: Random) => Promise<void>) =>
    again(context, new Random(seed * 31 + n), fromMs, toMs, act);
  return [
    loop(1, 300, 1500, (random) => disturbWorker(context, random)),
    loop(2, 800, 2500, (random) => disturbCollector(context, random)),
    loop(3, 2000, 5000, (random) => disturbClickHouse(context, random)),
    ...(stage.broker ? [loop(4, 6000, 12_000, (random) => disturbBroker(context, random))] : []),
  ];
}

async function again(
  { turns, signal }: ChaosContext,
  random: Random,
  fromMs: number,
  toMs: number,
  act: (random: Random) => Promise<void>,
): Promise<void> {
  for (;;) {
    await delay(random.integer(fromMs, toMs), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await turns.among(() => act(random));
  }
}

async function disturbWorker({ stage, tally }: ChaosContext, random: Random): Promise<void> {
  const running = stage.workers.filter(({ service }) => service);
  if (running.length === 0) return;
  const worker = random.pick(running);
  const draw = random.next();
  if (draw < 0.75) {
    if (await worker.kill()) tally.killed('a worker');
  } else if (draw < 0.87) {
    if (await worker.replace()) tally.count('SIGTERM of a worker');
  } else {
    const ms = random.integer(100, 4000);
    if (await worker.pause(ms)) tally.count('SIGSTOP of a worker', `${ms} ms`);
  }
}

async function disturbCollector({ stage, tally }: ChaosContext, random: Random): Promise<void> {
  const running = stage.collectors.filter(({ service }) => service);
  if (running.length === 0) return;
  const collector = random.pick(running);
  if (random.next() < 0.8) {
    if (await collector.kill()) tally.killed('a collector');
  } else {
    const ms = random.integer(100, 3000);
    if (await collector.pause(ms)) tally.count('SIGSTOP of a collector', `${ms} ms`);
  }
}

/** The server itself, which its supervisor restarts, or the supervisor, whose server then exits by itself. */
async function disturbClickHouse({ stage, tally }: ChaosContext, random: Random): Promise<void> {
  if (random.next() < 0.3) {
    if (await stage.clickHouse.kill()) tally.killed("ClickHouse's supervisor");
    return;
  }
  const server = await findEmbedded(stage.rig.folder);
  if (!server) return;
  process.kill(server.pid, 'SIGKILL');
  tally.killed('ClickHouse');
}

async function disturbBroker({ stage, tally }: ChaosContext, random: Random): Promise<void> {
  await stage.broker?.kill();
  tally.killed('the broker');
  await delay(random.integer(0, 800));
  await stage.broker?.restart();
}
