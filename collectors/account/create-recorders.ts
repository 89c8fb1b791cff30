import type { AccountCredentials } from '../../core/index.js';
import type { Share } from '../shard-assignment.js';
import { type AccountParts, AccountRecorder } from './account-recorder.js';
import { ACTIVITY, ActivityRecorder } from './activity-recorder.js';
import type { PollGroup } from './poll-definitions.js';

export interface AccountsOptions extends AccountParts {
  readonly accounts: readonly AccountCredentials[];
  readonly share: Share;
}

/** Records the configured accounts that belong to this collector, and the activity feed if that does. */
export class AccountsRecorder {
  readonly #recorders: readonly AccountRecorder[];
  readonly #activity: ActivityRecorder | undefined;

  /** @throws UsageError for credentials that cannot be what they should be */
  constructor(options: AccountsOptions) {
    const { accounts, share } = options;
    // The feed may belong here although none of the accounts does.
    const all = accounts.map((account) => new AccountRecorder(account, options));
    const clients = all.map(({ keyClient }) => keyClient).filter((client) => client !== undefined);
    this.#recorders = all.filter(({ name }) => share.owns(`account:${name}`));
    if (clients.length > 0 && share.owns(ACTIVITY)) this.#activity = new ActivityRecorder(clients, options);
  }

  /** Names of the accounts that are recorded here. */
  get names(): readonly string[] {
    return this.#recorders.map(({ name }) => name);
  }

  /** @param log identity of the log that account records go to */
  async start(log: string): Promise<void> {
    await Promise.all([...this.#recorders.map((recorder) => recorder.start(log)), this.#activity?.start(log)]);
  }

  due(group: PollGroup): void {
    for (const recorder of this.#recorders) recorder.due(group);
  }

  activityDue(): void {
    this.#activity?.due();
  }

  /** After the signal: resolves when everything is let go. */
  async stop(): Promise<void> {
    await Promise.all([...this.#recorders.map((recorder) => recorder.stop()), this.#activity?.stop()]);
  }
}
