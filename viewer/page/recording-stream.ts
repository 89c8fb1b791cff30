import type { RecordingMessage } from '../display/recording-text.js';
import type { RecordingState } from '../recording-state.js';
import { api } from './api.js';

const RETRY_MS = 5000;

/** Follows the state of recording as server-sent events; resumed by the browser when its connection breaks. */
export class RecordingStream {
  #source: EventSource | undefined;
  #closed = new AbortController();

  constructor(private readonly onMessage: (message: RecordingMessage) => void) {}

  open(): void {
    if (this.#source) return;
    this.#closed = new AbortController();
    const source = new EventSource('/api/stream');
    this.#source = source;
    source.addEventListener('state', ({ data }) => this.onMessage({ state: JSON.parse(data) as RecordingState }));
    source.addEventListener('problem', ({ data }) => this.onMessage({ problem: String(JSON.parse(data)) }));
    source.addEventListener('error', () => void this.#ask(source));
  }

  close(): void {
    this.#closed.abort();
    this.#source?.close();
    this.#source = undefined;
  }

  /** Without a stream, the answer of the viewer says why; a browser does not resume a stream that was refused. */
  async #ask(source: EventSource): Promise<void> {
    const { signal } = this.#closed;
    try {
      this.onMessage({ state: await api.state(signal) });
    } catch (error) {
      if (signal.aborted) return;
      this.onMessage({ problem: error instanceof Error ? error.message : String(error) });
    }
    if (source.readyState !== EventSource.CLOSED) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (signal.aborted) return;
    this.close();
    this.open();
  }
}
