import { describeError, type Logger } from '../../core/index.js';
import { type Announcement, announce, type ServiceName } from './registry.js';

/** A service's entry in the data folder. If it cannot be written (full disk), the service continues and logs that. */
export class ServiceEntry {
  #entry: ReturnType<typeof announce> | undefined;

  constructor(
    private readonly data: string,
    private readonly service: ServiceName,
    private readonly log: Logger,
  ) {}

  publish(about: Announcement): void {
    try {
      if (this.#entry) this.#entry.update(about);
      else this.#entry = announce(this.data, this.service, about);
    } catch (error) {
      this.log.warn(`${describeError(error)}: \`chancery status\` does not show this service's current state`);
    }
  }

  end(): void {
    this.#entry?.end();
  }
}
