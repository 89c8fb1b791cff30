import { describeError, type Logger } from '../../core/index.js';
import { type Announcement, announce, type PartName } from './registry.js';

/** A part's entry in the data folder; one that cannot be written, on a full disk for instance, ends nothing. */
export class PartEntry {
  #known: ReturnType<typeof announce> | undefined;

  constructor(
    private readonly data: string,
    private readonly part: PartName,
    private readonly log: Logger,
  ) {}

  tell(about: Announcement): void {
    try {
      if (this.#known) this.#known.update(about);
      else this.#known = announce(this.data, this.part, about);
    } catch (error) {
      this.log.warn(`${describeError(error)}: \`chancery status\` does not see this part as it is`);
    }
  }

  end(): void {
    this.#known?.end();
  }
}
