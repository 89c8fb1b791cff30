import { openEmbeddedBus, openKafkaBus } from '../../../dist/bus/index.js';

/** Opens the bus that the parent names in its first argument, as JSON. */
export function openBusOfParent() {
  const { kind, ...options } = JSON.parse(process.argv[2]);
  if (kind === 'embedded') return openEmbeddedBus(options);
  if (kind === 'kafka') return openKafkaBus(options);
  throw new Error(`unknown kind of bus: ${kind}`);
}
