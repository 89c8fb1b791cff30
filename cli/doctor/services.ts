import { resolve } from 'node:path';
import type { Settings } from '../../core/index.js';
import { type ServiceStatus, serviceStatuses } from '../status/services.js';
import { type Check, type Finding, fail, ok } from './check.js';

/** Whether the services that run on the data folder are healthy; one that is starting is not judged. */
export const servicesCheck = (settings: Settings): Check => ({
  name: 'services',
  run: async () => finding(await serviceStatuses(resolve(settings.data))),
});

function finding(services: readonly ServiceStatus[]): Finding {
  if (services.length === 0) return ok('none is running on this data folder');
  const unhealthy = services.filter(({ health, healthy }) => health !== undefined && !healthy);
  if (unhealthy.length === 0) return ok(`${services.map(({ service }) => service).join(', ')}`);
  const named = unhealthy.map(({ service, pid, detail }) => `${service} (pid ${pid}): ${cause(detail)}`);
  return fail(
    `${unhealthy.length} of ${services.length} not healthy: ${named.join('; ')}`,
    'do what the cause says, or read the log; end a service that does not respond with `kill -9` and start it again: rows are neither lost nor duplicated, and what was not recorded meanwhile is a gap',
  );
}

const cause = ({ cause: given }: ServiceStatus['detail']): string =>
  typeof given === 'string' ? given : 'it gives no cause';
