import { inject } from 'vitest';
import type { Services } from './shared-services.js';

/** Asks the shared services of the run, which start what is needed first. */
export async function askServices<Path extends keyof Services>(path: Path, body = ''): Promise<Services[Path]> {
  const url = inject('services');
  // No limit of fetch's own: the first file waits for the start, which the time limit of its hook bounds.
  const response = await fetch(`${url}${path}`, { method: 'POST', body });
  const text = await response.text();
  if (!response.ok) throw new Error(`the shared services did not give ${path}: ${text}`);
  return JSON.parse(text) as Services[Path];
}
