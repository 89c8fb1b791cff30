import { startChromium } from '../../test/support/chromium.js';
import type { BenchFigure } from '../bench.js';
import { LiveInstance } from '../live-instance.js';
import { quantile } from '../quantile.js';
import { measureFirstEvents } from './first-events.js';
import { measureScreen } from './screen.js';

export const SCREEN_ORDERS = 30;
const QUICK_ORDERS = 5;

/** How soon what happens is seen in Chromium: the first events of a new instance, and the price of an order. */
export async function benchViewerFreshness(quick: boolean): Promise<BenchFigure[]> {
  const browser = await startChromium();
  try {
    const { readySeconds, shownSeconds } = await measureFirstEvents(browser);
    const instance = await LiveInstance.start();
    let latencies: number[];
    try {
      await instance.drained();
      latencies = await measureScreen(instance, browser, quick ? QUICK_ORDERS : SCREEN_ORDERS);
    } finally {
      await instance.stop();
    }
    const tenths = (value: number) => Math.round(10 * value) / 10;
    return [
      {
        name: 'npm start in a checkout that is not built, until it prints its address',
        value: tenths(readySeconds),
        unit: 's',
      },
      {
        name: 'npm start in a checkout that is not built, until its first page shows events',
        value: tenths(shownSeconds),
        unit: 's',
      },
      { name: 'order sent to price on the screen, p50', value: Math.round(quantile(latencies, 0.5)), unit: 'ms' },
      { name: 'order sent to price on the screen, p95', value: Math.round(quantile(latencies, 0.95)), unit: 'ms' },
    ];
  } finally {
    await browser.close();
  }
}
