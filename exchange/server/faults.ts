/** What can be made to go wrong, once per armed count. */
export const FAULT_KINDS = [
  'drop-connection',
  'freeze',
  'skip-delta',
  'duplicate-delta',
  'malformed-frame',
  'slow',
  'http-429',
  'http-500',
  'http-reset',
  'truncated-body',
] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

export const FAULT_STREAMS = ['order-book', 'chance', 'orders', 'balance', 'rest'] as const;
export type FaultStream = (typeof FAULT_STREAMS)[number];

/** Kinds that only streams have. */
export const STREAM_ONLY: readonly FaultKind[] = ['skip-delta', 'duplicate-delta', 'malformed-frame'];

export interface FaultRequest {
  readonly kind: FaultKind;
  /** None: any stream, and REST. */
  readonly stream?: FaultStream | undefined;
  /** Only what concerns this event. */
  readonly eventId?: string | undefined;
  readonly count: number;
  /** `slow`: how long; `freeze`: until it thaws (none: for good). Milliseconds. */
  readonly ms?: number | undefined;
}

export interface ArmedFault extends FaultRequest {
  readonly id: number;
  /** How often it will still strike. */
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

/** Where a fault may strike: something is about to be sent or answered here. */
interface FaultScope {
  readonly stream: FaultStream;
  readonly eventId?: string | undefined;
}

const MAX_USED_SHOWN = 10_000;

/** The faults that tests and demos armed. The next fitting frame, request or connection uses one up. */
export class Faults {
  #armed: ArmedFault[] = [];
  #used: UsedFault[] = [];
  #nextId = 1;
  #onArmed: ((fault: ArmedFault) => void)[] = [];

  constructor(private readonly nowMicros: () => number) {}

  /** False: nothing is armed, so nothing needs to be looked for. */
  get any(): boolean {
    return this.#armed.length > 0;
  }

  /** Called with each fault right after it was armed, for those that strike what is already there. */
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

  /** Uses up the oldest armed fault of the kind that fits the scope; undefined when there is none. */
  take(kind: FaultKind, scope: FaultScope): ArmedFault | undefined {
    if (this.#armed.length === 0) return undefined;
    const fault = this.#armed.find((f) => f.kind === kind && matches(f, scope));
    if (fault) this.use(fault, scope);
    return fault;
  }

  /** Uses the given armed fault once. */
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

/** A fault of an event strikes only where that event is named; one without strikes anywhere on its stream. */
export function matches(fault: ArmedFault, scope: FaultScope): boolean {
  if (fault.stream !== undefined && fault.stream !== scope.stream) return false;
  if (scope.stream === 'rest' && STREAM_ONLY.includes(fault.kind)) return false;
  return fault.eventId === undefined || fault.eventId === scope.eventId;
}
