import { describeError, type Logger } from '../../core/index.js';
import { type Announcement, announce, type PartName } from './registry.js';

/** A part's entry in the data folder. If it cannot be written (full disk), the part continues and logs that. */
export class PartEntry {
  #entry: ReturnType<typeof announce> | undefined;

  constructor(
    private readonly data: string,
    private readonly part: PartName,
    private readonly log: Logger,
  ) {}

  publish(about: Announcement): void {
    try {
      if (this.#entry) this.#entry.update(about);
      else this.#entry = announce(this.data, this.part, about);
    } catch (error) {
      this.log.warn(`${describeError(error)}: \`chancery status\` does not show this part's current state`);
    }
  }

  end(): void {
    this.#entry?.end();
  }
}
