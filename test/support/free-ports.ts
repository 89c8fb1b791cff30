import { freePort } from '../../warehouse/embedded/ports.js';

/** That many free loopback ports, which no outgoing connection takes while their server is down. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort(ports));
  return ports;
}
