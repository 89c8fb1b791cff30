import { inject } from 'vitest';
import type { Services } from './shared-services.js';

/** Sends a request to the shared services of the run, which start the required server first. */
export async function askServices<Path extends keyof Services>(path: Path, body = ''): Promise<Services[Path]> {
  const url = inject('services');
  // Without a timeout of fetch: the first file waits for the start, limited by the timeout of its hook.
  const response = await fetch(`${url}${path}`, { method: 'POST', body });
  const text = await response.text();
  if (!response.ok) throw new Error(`the shared services did not give ${path}: ${text}`);
  return JSON.parse(text) as Services[Path];
}
