/** Wakes the one who waits; given while nobody waits, it wakes the next who does. */
export class Notice {
  #given = false;
  #waiting: (() => void) | undefined;

  give(): void {
    this.#given = true;
    this.#waiting?.();
  }

  /** Resolves once the notice is given, or after `withinMs`. */
  async taken(withinMs?: number): Promise<void> {
    if (!this.#given) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
        if (withinMs !== undefined) timer = setTimeout(resolve, withinMs);
      });
      clearTimeout(timer);
    }
    this.#waiting = undefined;
    this.#given = false;
  }
}
