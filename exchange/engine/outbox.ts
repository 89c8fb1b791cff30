import type { ExchangeEvents } from './core.js';

type Name = keyof ExchangeEvents;
type Listener = (value: never) => void;

/** Holds back what happened until the command that did it is complete, then tells the listeners, in order. */
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

  /** Until this is called nobody is told anything: what is read again from the journal was told before. */
  unmute(): void {
    this.#muted = false;
  }

  /** Whether anybody listens: what nobody hears need not be made. */
  hears(name: Name): boolean {
    return !this.#muted && (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  push<K extends Name>(name: K, value: ExchangeEvents[K]): void {
    if (this.hears(name)) this.#queue.push([name, value]);
  }

  /** Tells everything pushed so far. Called from inside a listener it leaves that to the call it came from. */
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
