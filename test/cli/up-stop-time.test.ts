import { describe, expect, it } from 'vitest';
import { isRunning, STOP_MS } from '../../core/index.js';
import { fastest } from '../support/fastest.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { clickHousePid, startUp, status } from './start-up.js';

/** A busy machine takes a while to remove a process that was killed. One that was not killed would never end. */
const REMOVED_WITHIN_MS = 30_000;

/** Starts an instance, hangs its ClickHouse and these services, and stops it; returns how long that took, milliseconds. */
async function stopWithHanging(hung: readonly string[]): Promise<number> {
  const data = temporaryFolder();
  const up = startUp(data);
  await up.line(/^ready in /);
  const { services } = await status(data);
  const hanging = [clickHousePid(data), ...services.filter((p) => hung.includes(p.service)).map((p) => p.pid)];
  expect(hanging).toHaveLength(1 + hung.length);
  for (const pid of hanging) process.kill(pid, 'SIGSTOP');
  const askedAt = performance.now();
  up.child.kill('SIGINT');
  expect(await up.exited).toBe(0);
  const tookMs = performance.now() - askedAt;
  const processes = new Set([...hanging, ...services.map((p) => p.pid)]);
  await until(() => ![...processes].some(isRunning) || `left: ${[...processes].filter(isRunning)}`, REMOVED_WITHIN_MS);
  return tookMs;
}

describe('chancery up', () => {
  it('stops within 5 s although services hang, and leaves no process behind', async () => {
    const ms = await fastest(STOP_MS.total, () => stopWithHanging(['collect']));
    console.log(`stopped in ${Math.round(ms)} ms`);
    expect(ms).toBeLessThanOrEqual(STOP_MS.total);
  });

  it('kills a ClickHouse that hangs also when the service that would kill it hangs', async () => {
    await stopWithHanging(['clickhouse']);
  });
});
