import type { Writable } from 'node:stream';
import { describeError, UnavailableError, UsageError } from '../core/index.js';
import { QueryError } from './database.js';
import type { RecordingState } from './recording-state.js';

const INTERVAL_MS = 5000;
/** Of INTERVAL_MS, while nothing was ever recorded or the state is not known: this may soon be otherwise. */
const SOON = 0.2;
const MAX_STREAMS = 500;
const MAX_UNREAD_BYTES = 1_000_000;

interface StreamEvent {
  readonly id: string;
  readonly text: string;
  /** Whether the state is known, of an instance with records. */
  readonly isKnown: boolean;
}

/** Sends the state of recording to all browsers as server-sent events, asked once for all of them while there are any. */
export class StateStreams {
  readonly #streams = new Set<Writable>();
  readonly #stopped = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;
  #last: StreamEvent | undefined;
  #sent = 0;

  /** @param name of this start of the viewer: IDs of events of another start are not resumed */
  constructor(
    private readonly name: string,
    private readonly ask: (signal: AbortSignal) => Promise<RecordingState>,
    private readonly intervalMs: number = INTERVAL_MS,
  ) {}

  get count(): number {
    return this.#streams.size;
  }

  get isFull(): boolean {
    return this.#streams.size >= MAX_STREAMS;
  }

  /** @param lastEventId of the event that the browser received last, where it resumes */
  add(stream: Writable, lastEventId: string | undefined): void {
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    stream.on('error', () => stream.destroy());
    stream.write(this.#last && this.#last.id !== lastEventId ? this.#last.text : ':\n\n');
    if (!this.#isAsking && this.#timer === undefined) void this.#next();
  }

  stop(): void {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    for (const stream of this.#streams) stream.destroy();
  }

  async #next(): Promise<void> {
    this.#isAsking = true;
    const event = await this.#event();
    this.#isAsking = false;
    this.#last = event;
    for (const stream of this.#streams) {
      if (stream.writableLength > MAX_UNREAD_BYTES) stream.destroy();
      else stream.write(event.text);
    }
    if (this.#stopped.signal.aborted) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (this.#streams.size > 0) void this.#next();
        else this.#last = undefined;
      },
      this.intervalMs * (event.isKnown ? 1 : SOON),
    );
  }

  async #event(): Promise<StreamEvent> {
    try {
      const state = await this.ask(this.#stopped.signal);
      return this.#eventOf('state', state, state.newestSeconds !== null);
    } catch (error) {
      const isExpected =
        error instanceof QueryError || error instanceof UnavailableError || error instanceof UsageError;
      return this.#eventOf('problem', isExpected ? describeError(error) : 'the viewer failed; see its log');
    }
  }

  #eventOf(type: 'state' | 'problem', value: unknown, isKnown = false): StreamEvent {
    const id = `${this.name}-${++this.#sent}`;
    const data = JSON.stringify(value);
    return { id, text: `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`, isKnown };
  }
}
