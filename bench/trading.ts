import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadyLine } from '../exchange/index.js';
import { ServiceProcess } from '../test/support/service-process.js';
import type { BenchFigure } from './bench.js';
import { cpuSeconds } from './process-usage.js';

export const PACES = [1, 50] as const;
export const SECONDS = 30;
const QUICK_SECONDS = 5;
/** Time until every market has its first quotes. */
const WARM_UP_SECONDS = 10;

/** The rate of price changes by the bots' signed orders, and the CPU time of exchange and bots. */
export async function benchTrading(quick: boolean): Promise<BenchFigure[]> {
  const figures: BenchFigure[] = [];
  for (const pace of PACES) figures.push(...(await trade(pace, quick ? QUICK_SECONDS : SECONDS)));
  return figures;
}

async function trade(pace: number, seconds: number): Promise<BenchFigure[]> {
  const exchange = await ServiceProcess.start<ReadyLine>('exchange', ['--port', '0', '--pace', String(pace)]);
  try {
    const { control } = exchange.ready;
    await sleep(1000 * WARM_UP_SECONDS);
    const { pid } = exchange;
    const bots = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
    const seqBefore = await lastSeq(control, 0);
    const [exchangeBefore, botsBefore, startedAt] = [cpuSeconds(pid), cpuSeconds(bots), performance.now()];
    await sleep(1000 * seconds);
    const took = (performance.now() - startedAt) / 1000;
    const share = (before: number, after: number) => Math.round((1000 * (after - before)) / took) / 10;
    const shares = [share(exchangeBefore, cpuSeconds(pid)), share(botsBefore, cpuSeconds(bots))] as const;
    const changes = (await lastSeq(control, seqBefore)) - seqBefore;
    return [
      { name: `price changes at pace ${pace}`, value: Math.round(changes / took), unit: 'changes/s' },
      { name: `the exchange's share of a core at pace ${pace}`, value: shares[0], unit: '%' },
      { name: `the bots' share of a core at pace ${pace}`, value: shares[1], unit: '%' },
    ];
  } finally {
    await exchange.stop();
  }
}

async function lastSeq({ url, token }: ReadyLine['control'], after: number): Promise<number> {
  const answer = await fetch(`${url}/truth/prices?after=${after}`, { headers: { 'x-control-token': token } });
  const last = (await answer.text()).trimEnd().split('\n').at(-1);
  return last ? (JSON.parse(last) as { seq: number }).seq : after;
}
