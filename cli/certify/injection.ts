import {
  type Action,
  ControlInterface,
  type FaultRequest,
  type KilledService,
  type UsedFault,
} from '../../certify/index.js';
import { systemClock } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';
import type { InstanceRun } from '../up/instance-run.js';

/**
 * The exchange forgets its faults when it is killed, so none may be armed then, nor while the ledger is compared; longest time
 * until all were applied.
 */
const APPLIED_MS = 20_000;
const CHECK_MS = 200;
const DOWN_CHECK_MS = 20;

/** A process that was killed. */
export interface PerformedKill {
  readonly service: KilledService;
  /** Unix microseconds. */
  readonly at: number;
  /** Until when it had not been started again, Unix microseconds; undefined when it is not known. */
  downUntil?: number;
}

/** Arms faults and kills processes of an instance as planned, and keeps a record of what was applied. */
export class Injection {
  readonly kills: PerformedKill[] = [];
  /** Faults that were applied, by the control token of the exchange's process. */
  readonly #used = new Map<string, readonly UsedFault[]>();

  constructor(
    private readonly options: {
      readonly instance: InstanceRun;
      readonly data: string;
      readonly exchange: () => { readonly url: string; readonly token: string };
      readonly onMessage: (text: string) => void;
    },
  ) {}

  /** Every fault that was applied. */
  async used(): Promise<UsedFault[]> {
    await this.#readFaults();
    return [...this.#used.values()].flat();
  }

  /** @param startedAt by `performance.now()` */
  async perform(plan: readonly Action[], startedAt: number, signal: AbortSignal): Promise<void> {
    for (const action of plan) {
      await systemClock.sleep(Math.max(0, startedAt + action.atMs - performance.now()), signal);
      try {
        if ('fault' in action) await this.#arm(action.fault, signal);
        else await this.#kill(action.kill, signal);
      } catch (error) {
        signal.throwIfAborted();
        this.options.onMessage(`not injected: ${(error as Error).message}`);
      }
    }
  }

  /** Waits for an exchange that is starting again. */
  async #arm(fault: FaultRequest, signal: AbortSignal): Promise<void> {
    for (const endsAt = performance.now() + APPLIED_MS; ; ) {
      try {
        await this.#control().arm(fault);
        return;
      } catch (error) {
        if (performance.now() > endsAt) throw error;
        await systemClock.sleep(CHECK_MS, signal);
      }
    }
  }

  async #kill(service: KilledService, signal: AbortSignal): Promise<void> {
    if ((await this.#pidOf(service)) === undefined) return;
    if (service === 'exchange' && !(await this.applied(signal))) {
      this.options.onMessage('the exchange is not killed: faults are armed that were not applied yet');
      return;
    }
    const pid = await this.#pidOf(service);
    if (pid === undefined) return;
    this.options.onMessage(`kill -9 ${service}`);
    process.kill(pid, 'SIGKILL');
    const kill: PerformedKill = { service, at: Date.now() * 1000 };
    this.kills.push(kill);
    void this.#measureDown(kill, pid, signal).catch(() => undefined);
  }

  /** Until its parent has started another process. */
  async #measureDown(kill: PerformedKill, pid: number, signal: AbortSignal): Promise<void> {
    const process = this.options.instance.services.find(({ name }) => name === kill.service);
    for (let before = Date.now() * 1000; process?.pid === pid; before = Date.now() * 1000) {
      kill.downUntil = before;
      await systemClock.sleep(DOWN_CHECK_MS, signal);
    }
  }

  /** ClickHouse is killed itself, not the process that starts it again. */
  async #pidOf(service: KilledService): Promise<number | undefined> {
    if (service === 'clickhouse') return (await findEmbedded(this.options.data))?.pid;
    const found = this.options.instance.services.find(({ name }) => name === service);
    return found?.state === 'ready' ? found.pid : undefined;
  }

  /** Whether no fault is armed any more, within a time. */
  async applied(signal: AbortSignal): Promise<boolean> {
    for (const endsAt = performance.now() + APPLIED_MS; performance.now() < endsAt; ) {
      if ((await this.#readFaults()) === 0) return true;
      await systemClock.sleep(CHECK_MS, signal);
    }
    return false;
  }

  /** Number of faults that are armed. */
  async #readFaults(): Promise<number> {
    const { armed, used } = await this.#control().faults();
    this.#used.set(this.options.exchange().token, used);
    return armed.length;
  }

  #control(): ControlInterface {
    const { url, token } = this.options.exchange();
    return new ControlInterface(url, token);
  }
}
