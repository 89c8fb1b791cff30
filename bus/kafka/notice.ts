/** Wakes whoever waits; a call while nobody waits wakes the next one who does. */
export class Notice {
  #given = false;
  #waiting: (() => void) | undefined;

  give(): void {
    this.#given = true;
    this.#waiting?.();
  }

  async taken(): Promise<void> {
    if (!this.#given) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#waiting = undefined;
    this.#given = false;
  }
}
