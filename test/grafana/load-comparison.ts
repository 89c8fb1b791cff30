import { CannotInstall } from './grafana-data.js';

/** The comparison with Grafana; undefined where its packages cannot be installed, which is a defect where `CI` is set. */
export async function loadComparison(): Promise<typeof import('./as-grafana.js') | undefined> {
  try {
    return await import('./as-grafana.js');
  } catch (error) {
    if (error instanceof CannotInstall && !process.env['CI']) return undefined;
    throw error;
  }
}
