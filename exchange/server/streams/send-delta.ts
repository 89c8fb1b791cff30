import { ALTERING_KINDS, alteredJson } from '../altered-json.js';
import { type ArmedFault, type FaultStream, type Faults, targets } from '../faults.js';
import type { StreamSocket } from './stream-socket.js';

interface Delta {
  readonly stream: FaultStream;
  readonly eventId: string | undefined;
  readonly frame: Buffer;
}

/** The fault of a delta, and the frame that is sent instead. */
interface AppliedFault {
  readonly fault: ArmedFault;
  readonly frame: Buffer;
}

const WHOLE_DELTA_KINDS = ['skip-delta', 'duplicate-delta', 'reorder-deltas'] as const;

/** Sends a delta to its subscribers; an armed fault of deltas changes it for those to which it applies. */
export function sendDelta(delta: Delta, sockets: Iterable<StreamSocket>, faults: Faults): void {
  const { eventId, frame } = delta;
  const subscribers = faults.any ? [...sockets] : sockets;
  const applied = Array.isArray(subscribers) ? takeFault(delta, subscribers, faults) : undefined;
  for (const socket of subscribers) {
    const own = applied && targets(applied.fault, socket) ? applied : undefined;
    if (own?.fault.kind === 'skip-delta') continue;
    if (own?.fault.kind === 'reorder-deltas') {
      socket.holdBack(frame, eventId);
      continue;
    }
    socket.send(own?.frame ?? frame, eventId);
    if (own?.fault.kind === 'duplicate-delta') socket.send(frame, eventId);
    socket.sendHeldBack(eventId);
  }
}

/** A fault without a client to which it applies, or without the field that it changes, stays armed. */
function takeFault(delta: Delta, subscribers: readonly StreamSocket[], faults: Faults): AppliedFault | undefined {
  const { stream, eventId, frame } = delta;
  const scope = { stream, eventId, isBot: subscribers.every(({ isBot }) => isBot) };
  for (const kind of WHOLE_DELTA_KINDS) {
    const fault = faults.take(kind, scope);
    if (fault) return { fault, frame };
  }
  for (const kind of ALTERING_KINDS) {
    const fault = faults.find(kind, scope);
    const altered = fault && alteredJson(frame.toString(), fault);
    if (!fault || altered === undefined) continue;
    faults.use(fault, scope);
    return { fault, frame: Buffer.from(altered) };
  }
  return undefined;
}
