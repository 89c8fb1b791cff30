import { openEmbeddedBus, openKafkaBus } from '../../../dist/bus/index.js';

/** Opens the bus that the first argument describes, as JSON. */
export function openBusOfParent() {
  const { kind, ...options } = JSON.parse(process.argv[2]);
  if (kind === 'embedded') return openEmbeddedBus(options);
  if (kind === 'kafka') return openKafkaBus(options);
  throw new Error(`unknown kind of bus: ${kind}`);
}
