import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '../support/service-process.js';

const AGAIN_MS = 300;

/** Restarts one process whenever it exits. */
export class Keeper {
  /** Its last output, for each time that it exited unexpectedly. */
  readonly failures: string[] = [];
  #service: ServiceProcess | undefined;
  #wanted = false;
  #ending = false;
  #loop: Promise<void> = Promise.resolve();

  /**
   * @param launch resolves when the process is ready
   * @param downMs delay before it is restarted after a kill
   */
  constructor(
    readonly name: string,
    private readonly launch: () => Promise<ServiceProcess>,
    private readonly downMs: () => number,
  ) {}

  /** The process while it runs. */
  get service(): ServiceProcess | undefined {
    return this.#service;
  }

  /** Starts it; resolves when it has been ready once. */
  async start(): Promise<void> {
    this.#wanted = true;
    this.#service = await this.#launched();
    this.#loop = this.#keep();
  }

  /** `kill -9`, also while it is paused; false if it is not running. */
  async kill(): Promise<boolean> {
    const service = this.#service;
    if (!service) return false;
    this.#ending = true;
    await service.kill9();
    return true;
  }

  /** Shuts it down cleanly; it is restarted. */
  async replace(): Promise<boolean> {
    const service = this.#service;
    if (!service) return false;
    this.#ending = true;
    await service.stop();
    return true;
  }

  /** Pauses it (SIGSTOP) for a time. */
  async pause(ms: number): Promise<boolean> {
    const service = this.#service;
    if (!service) return false;
    service.signal('SIGSTOP');
    await delay(ms);
    service.signal('SIGCONT');
    return true;
  }

  /** `kill -9`, without a restart. */
  async remove(): Promise<void> {
    this.#wanted = false;
    await this.#service?.kill9();
    await this.#loop;
  }

  /** Shuts it down cleanly, until `start`. */
  async stop(): Promise<void> {
    this.#wanted = false;
    this.#service?.signal('SIGCONT');
    await this.#service?.stop();
    await this.#loop;
  }

  async #keep(): Promise<void> {
    while (this.#service) {
      const service = this.#service;
      const code = await service.exited;
      this.#service = undefined;
      if (!this.#wanted) return;
      if (this.#ending) await delay(this.downMs());
      else this.failures.push(`${this.name} ended with ${code}: ${service.stderr.trim().split('\n').at(-1)}`);
      this.#ending = false;
      this.#service = await this.#launched();
      if (!this.#wanted) await this.#service?.stop();
    }
  }

  /** Retries until it is ready or has been stopped. */
  async #launched(): Promise<ServiceProcess | undefined> {
    while (this.#wanted) {
      try {
        return await this.launch();
      } catch (error) {
        this.failures.push(`${this.name}: ${error instanceof Error ? error.message.trim().slice(-400) : error}`);
        await delay(AGAIN_MS);
      }
    }
    return undefined;
  }
}
