import { BOTS_USER_AGENT } from '../../core/index.js';

/** Kinds of faults. */
export const FAULT_KINDS = [
  'drop-connection',
  'freeze',
  'skip-delta',
  'duplicate-delta',
  'reorder-deltas',
  'malformed-frame',
  'oversized-frame',
  'rename-field',
  'number-as-text',
  'clock-skew',
  'late-history',
  'slow',
  'stale-rest',
  'http-429',
  'http-500',
  'http-reset',
  'truncated-body',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export const FAULT_STREAMS = ['order-book', 'chance', 'orders', 'balance', 'rest'] as const;
export type FaultStream = (typeof FAULT_STREAMS)[number];

const STREAMS_ONLY: readonly FaultStream[] = ['order-book', 'chance', 'orders', 'balance'];

/** Where a kind applies, if not everywhere. */
const APPLIES_TO: { readonly [Kind in FaultKind]?: readonly FaultStream[] } = {
  'skip-delta': STREAMS_ONLY,
  'duplicate-delta': STREAMS_ONLY,
  'reorder-deltas': STREAMS_ONLY,
  'malformed-frame': STREAMS_ONLY,
  'oversized-frame': STREAMS_ONLY,
  'clock-skew': ['chance', 'rest'],
  'late-history': ['chance'],
  'stale-rest': ['rest'],
};

/** Kinds that need `ms`. */
export const NEEDS_MS: readonly FaultKind[] = ['slow', 'late-history', 'clock-skew'];

export const FAULT_TARGETS = ['any', 'not-bots'] as const;

export interface FaultRequest {
  readonly kind: FaultKind;
  /** Default: any stream, and REST. */
  readonly stream?: FaultStream | undefined;
  /** Applies only to frames and requests about this event. */
  readonly eventId?: string | undefined;
  readonly count: number;
  /** `not-bots`: applies only to clients that are not the exchange's own bots. */
  readonly target: (typeof FAULT_TARGETS)[number];
  /**
   * Duration of `slow`, `late-history` and `freeze` (for `freeze` without it: permanent); for `clock-skew` how far the
   * exchange's clock is ahead, which may be negative; milliseconds.
   */
  readonly ms?: number | undefined;
  /** For `freeze` with an event: nothing is sent on the whole connection that is subscribed to it. Default: about the event. */
  readonly connection?: boolean | undefined;
  /** For `rename-field` and `number-as-text`: name of the field. Default: the first field with a number. */
  readonly field?: string | undefined;
}

export interface ArmedFault extends FaultRequest {
  readonly id: number;
  /** How many more times it applies. */
  left: number;
}

interface UsedFault {
  readonly id: number;
  readonly kind: FaultKind;
  readonly stream: FaultStream;
  readonly eventId?: string;
  /** Unix microseconds. */
  readonly at: number;
}

/** The stream, event and client of a frame, request or connection to which a fault may apply. */
export interface FaultScope {
  readonly stream: FaultStream;
  /** Whether the client is one of the exchange's bots. */
  readonly isBot: boolean;
  readonly eventId?: string | undefined;
}

const MAX_USED_SHOWN = 10_000;

/** The armed faults. The next matching frame, request or connection consumes one. */
export class Faults {
  #armed: ArmedFault[] = [];
  #used: UsedFault[] = [];
  #nextId = 1;
  #onArmed: ((fault: ArmedFault) => void)[] = [];

  constructor(private readonly nowMicros: () => number) {}

  /** Whether any fault is armed. */
  get any(): boolean {
    return this.#armed.length > 0;
  }

  /** Called with each newly armed fault, for kinds that apply to open connections at once. */
  onArmed(listener: (fault: ArmedFault) => void): void {
    this.#onArmed.push(listener);
  }

  arm(request: FaultRequest): ArmedFault {
    const fault: ArmedFault = { ...request, id: this.#nextId++, left: request.count };
    this.#armed.push(fault);
    const shown = { ...fault };
    for (const listener of this.#onArmed) listener(fault);
    return shown;
  }

  /** Disarms a fault: it applies no more times; undefined when none with that ID is armed. */
  disarm(id: number): ArmedFault | undefined {
    const fault = this.#armed.find((each) => each.id === id);
    this.#armed = this.#armed.filter((each) => each !== fault);
    return fault;
  }

  /** Consumes the oldest armed fault of the kind that matches the scope; undefined when there is none. */
  take(kind: FaultKind, scope: FaultScope): ArmedFault | undefined {
    const fault = this.find(kind, scope);
    if (fault) this.use(fault, scope);
    return fault;
  }

  /** The fault that `take` would consume. */
  find(kind: FaultKind, scope: FaultScope): ArmedFault | undefined {
    return this.#armed.find((f) => f.kind === kind && matches(f, scope));
  }

  /** Consumes the given fault once. */
  use(fault: ArmedFault, scope: FaultScope): void {
    fault.left -= 1;
    if (fault.left <= 0) this.#armed = this.#armed.filter((f) => f !== fault);
    this.#used.push({
      id: fault.id,
      kind: fault.kind,
      stream: scope.stream,
      ...(scope.eventId === undefined ? {} : { eventId: scope.eventId }),
      at: this.nowMicros(),
    });
    if (this.#used.length > MAX_USED_SHOWN) this.#used = this.#used.slice(-MAX_USED_SHOWN / 2);
  }

  list(): { armed: readonly ArmedFault[]; used: readonly UsedFault[] } {
    return { armed: this.#armed, used: this.#used };
  }
}

/** Whether a User-Agent is that of the exchange's bots. */
export const isBotsAgent = (userAgent: string | undefined): boolean => userAgent === BOTS_USER_AGENT;

/** Whether the fault applies to a client. */
export const targets = (fault: FaultRequest, { isBot }: { readonly isBot: boolean }): boolean =>
  !isBot || fault.target === 'any';

/** Whether a kind applies to the stream, or to REST. */
export const appliesTo = (kind: FaultKind, stream: FaultStream): boolean => APPLIES_TO[kind]?.includes(stream) ?? true;

/** A fault with an event matches only scopes of that event; one without matches every scope of its stream. */
export function matches(fault: ArmedFault, scope: FaultScope): boolean {
  if (fault.stream !== undefined && fault.stream !== scope.stream) return false;
  if (!targets(fault, scope)) return false;
  if (!appliesTo(fault.kind, scope.stream)) return false;
  return fault.eventId === undefined || fault.eventId === scope.eventId;
}
