import { randomInt } from 'node:crypto';
import { isFreePort } from '../../core/index.js';

/** Below the ports that Chancery itself chooses (`warehouse/embedded/ports.ts`), and those of outgoing connections. */
const FIRST = 10_000;
const PORTS_PER_PROCESS = 1_000;
const PROCESSES = 10;

const first = FIRST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % PROCESSES) * PORTS_PER_PROCESS;
const offset = randomInt(PORTS_PER_PROCESS);
let chosen = 0;

/**
 * A free loopback port that no other test chooses: each test process has ports of its own, and chooses each once. So no
 * other server takes it before its server has started, or while that is down.
 */
export async function freePort(): Promise<number> {
  while (chosen < PORTS_PER_PROCESS) {
    const port = first + ((offset + chosen++) % PORTS_PER_PROCESS);
    if (await isFreePort(port)) return port;
  }
  throw new Error(`this test process has used its ${PORTS_PER_PROCESS} ports`);
}

/** Several of them. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}
