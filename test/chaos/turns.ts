/** A lock with shared and exclusive holders. */
export class Turns {
  #alone: Promise<void> = Promise.resolve();
  readonly #acting = new Set<Promise<unknown>>();

  /** Runs while no exclusive holder does. */
  async among<T>(act: () => Promise<T>): Promise<T> {
    let seen: Promise<void> | undefined;
    while (seen !== this.#alone) {
      seen = this.#alone;
      await seen;
    }
    const acting = act();
    const ended = acting.catch(() => undefined).finally(() => this.#acting.delete(ended));
    this.#acting.add(ended);
    return acting;
  }

  /** Runs exclusively: after all current holders, and before all later ones. */
  alone<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#alone;
    const acting = (async () => {
      await before;
      while (this.#acting.size > 0) await Promise.all(this.#acting);
      return await act();
    })();
    this.#alone = acting.then(
      () => undefined,
      () => undefined,
    );
    return acting;
  }
}
