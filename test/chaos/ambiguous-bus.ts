import type { Bus } from '../../bus/index.js';
import { type Random, UnavailableError } from '../../core/index.js';

/** Records were sent, and it is unknown whether they are stored. */
class AmbiguousError extends UnavailableError {}

/** A larger body is appended in pieces. */
const PIECE_BYTES = 3000;
/** Fits into a request to Kafka. */
const WHOLE_BYTES = 900_000;

/**
 * A bus whose appends fail at random without reporting whether they were stored: some were, and are appended again when
 * the caller retries. Its records are small, so that larger bodies are appended in pieces.
 * @param alsoWhole whether half of the larger bodies are appended as a whole
 */
export function ambiguous(bus: Bus, random: Random, alsoWhole = false): Bus {
  const append: Bus['append'] = async (topic, records, signal) => {
    const draw = random.next();
    if (draw < 0.02) throw new AmbiguousError('lost before it was sent');
    const positions = await bus.append(topic, records, signal);
    if (draw < 0.06) throw new AmbiguousError('lost after it was done');
    return positions;
  };
  return new Proxy(bus, {
    get(target, name) {
      if (name === 'append') return append;
      if (name === 'maxRecordBytes') return alsoWhole && random.next() < 0.5 ? WHOLE_BYTES : PIECE_BYTES;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
