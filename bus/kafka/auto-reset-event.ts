/** An event that wakes one waiter and then resets itself. Set without a waiter, it wakes the next one at once. */
export class AutoResetEvent {
  #isSet = false;
  #wake: (() => void) | undefined;

  set(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  /** Resolves when the event is set, or after `timeoutMs`. */
  async wait(timeoutMs?: number): Promise<void> {
    if (!this.#isSet) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
    }
    this.#wake = undefined;
    this.#isSet = false;
  }
}
