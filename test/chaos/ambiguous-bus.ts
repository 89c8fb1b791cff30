import type { Bus } from '../../bus/index.js';
import { type Random, UnavailableError } from '../../core/index.js';

/** Records were sent, and nobody knows whether they are there. */
class AmbiguousError extends UnavailableError {}

/** A body of more than this goes onto the bus in pieces. */
const MAX_RECORD_BYTES = 3000;

/**
 * A bus whose appends now and then fail without saying whether they were done: some were, and come again when their
 * sender repeats them. Its records are small, so that larger bodies go onto it in pieces.
 */
export function ambiguous(bus: Bus, random: Random): Bus {
  const append: Bus['append'] = async (topic, records, signal) => {
    const fate = random.next();
    if (fate < 0.02) throw new AmbiguousError('lost before it was sent');
    const places = await bus.append(topic, records, signal);
    if (fate < 0.06) throw new AmbiguousError('lost after it was done');
    return places;
  };
  return new Proxy(bus, {
    get(target, name) {
      if (name === 'append') return append;
      if (name === 'maxRecordBytes') return MAX_RECORD_BYTES;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
