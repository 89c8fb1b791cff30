import { createLogger, type Settings } from '../../core/index.js';
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
  try {
    const silence = new Promise<undefined>((resolve) => setTimeout(resolve, RESPONSE_TIMEOUT_MS, undefined).unref());
    const partitions = await Promise.race([bus.partitions(), silence]);
    if (partitions === undefined) return fail(`${brokers} did not respond within ${RESPONSE_TIMEOUT_MS / 1000} s`, fix);
    return ok(`${brokers} responds; ${partitions.length} partitions of this instance`);
  } finally {
    await bus.close();
  }
}
