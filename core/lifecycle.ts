/** A component with a lifecycle. Constructors only wire; `start` does work; `stop` is idempotent and may be called before
`start` has resolved. */
export interface Component {
  readonly name: string;
  /** Resolves when the component is ready. The signal is aborted when the process should stop. */
  start(signal: AbortSignal): Promise<void>;
  /** Shuts down cleanly; resolves when everything is released. */
  stop(): Promise<void>;
}

/** Starts components in order and stops them in reverse, also after a failed start. */
export class Lifecycle {
  #started: Component[] = [];
  #stopping: Promise<void> | undefined;

  constructor(private readonly components: readonly Component[]) {}

  async start(signal: AbortSignal): Promise<void> {
    for (const component of this.components) {
      signal.throwIfAborted();
      this.#started.push(component);
      try {
        await component.start(signal);
      } catch (error) {
        await this.stop().catch(() => undefined);
        throw error;
      }
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const component of this.#started.reverse()) {
      try {
        await component.stop();
      } catch (error) {
        errors.push(error);
      }
    }
    this.#started = [];
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, 'several components did not stop cleanly');
  }
}

/** A signal that is aborted by SIGINT, SIGTERM or SIGHUP, or when the given stream (a parent's pipe) ends. */
export function processSignal(parentPipe?: NodeJS.ReadableStream): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => controller.abort(new Stopped(name)));
  if (parentPipe) {
    parentPipe.on('end', () => controller.abort(new Stopped('parent ended')));
    parentPipe.on('error', () => controller.abort(new Stopped('parent ended')));
    parentPipe.resume();
  }
  return controller.signal;
}

/** The abort reason of a clean shutdown; never reported as a failure. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}
