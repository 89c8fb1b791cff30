import { describeError } from '../../core/index.js';
import { type RunningService, runningServices } from '../service/registry.js';

/** A running service and its health. */
export interface ServiceStatus {
  readonly service: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly address?: string;
  /** Base URL of /healthz and /metrics. */
  readonly health?: string;
  readonly healthy: boolean;
  /** The response of /healthz, or why there was none. */
  readonly detail: Readonly<Record<string, unknown>>;
}

const RESPONSE_TIMEOUT_MS = 1500;

/** Every service that is running on the data folder, with its health. */
export function serviceStatuses(dataFolder: string): Promise<ServiceStatus[]> {
  return Promise.all(runningServices(dataFolder).map(ask));
}

async function ask({ service, pid, startedAt, address, health }: RunningService): Promise<ServiceStatus> {
  const about = {
    service,
    pid,
    startedAt,
    ...(address === undefined ? {} : { address }),
    ...(health === undefined ? {} : { health }),
  };
  if (health === undefined) return { ...about, healthy: false, detail: { cause: 'starting' } };
  try {
    const response = await fetch(`${health}/healthz`, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
    const { ok, ...detail } = (await response.json()) as { ok?: boolean } & Record<string, unknown>;
    return { ...about, healthy: ok === true, detail };
  } catch (error) {
    return { ...about, healthy: false, detail: { cause: `no response: ${describeError(error)}` } };
  }
}
