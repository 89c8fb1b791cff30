import type { ExchangeEvents } from './core.js';

type Name = keyof ExchangeEvents;
type Listener = (value: never) => void;

/** Queues the events of a command until it is complete, then calls the listeners, in order. */
export class Outbox {
  readonly #listeners = new Map<Name, Set<Listener>>();
  #queue: [Name, ExchangeEvents[Name]][] = [];
  #draining = false;
  #muted = true;

  on<K extends Name>(name: K, listener: (value: ExchangeEvents[K]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener as Listener);
    return () => void listeners.delete(listener as Listener);
  }

  /** Until this is called no event is emitted: the events of commands replayed from the journal were emitted before. */
  unmute(): void {
    this.#muted = false;
  }

  /** Whether the event has listeners; if not, its value need not be built. */
  hasListeners(name: Name): boolean {
    return !this.#muted && (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  push<K extends Name>(name: K, value: ExchangeEvents[K]): void {
    if (this.hasListeners(name)) this.#queue.push([name, value]);
  }

  /** Emits all queued events. Called from inside a listener it returns at once; the outer call emits them. */
  drain(): void {
    if (this.#draining || this.#queue.length === 0) return;
    this.#draining = true;
    for (let i = 0; i < this.#queue.length; i++) {
      const [name, value] = this.#queue[i] as [Name, ExchangeEvents[Name]];
      for (const listener of this.#listeners.get(name) ?? []) call(listener, value);
    }
    this.#queue = [];
    this.#draining = false;
  }
}

/** A listener that throws is a bug: it ends the process, but not in the middle of a command. */
function call(listener: Listener, value: ExchangeEvents[Name]): void {
  try {
    listener(value as never);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
