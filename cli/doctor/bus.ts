import { createLogger, type Settings, untilAborted } from '../../core/index.js';
import { openBusReadOnly } from '../service/instance.js';
import { type Check, fail, ok } from './check.js';

const RESPONSE_TIMEOUT_MS = 8000;

/** Whether Kafka responds, if it is configured. */
export function busChecks(settings: Settings): Check[] {
  return settings.kafkaBrokers === undefined
    ? []
    : [{ name: 'Kafka', run: () => kafka(settings, settings.kafkaBrokers) }];
}

async function kafka(settings: Settings, brokers: string | undefined) {
  const fix = 'check --kafka-brokers, the network, and that the brokers run';
  const bus = openBusReadOnly(settings, createLogger({ service: 'doctor', level: 'fatal' }));
  if (!bus) return fail(`no bus at ${brokers}`, fix);
  const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  try {
    const partitions = await untilAborted(bus.partitions(), signal);
    return ok(`${brokers} responds; ${partitions.length} partitions of this instance`);
  } catch (error) {
    if (!signal.aborted) throw error;
    return fail(`${brokers} did not respond within ${RESPONSE_TIMEOUT_MS / 1000} s`, fix);
  } finally {
    await bus.close();
  }
}
