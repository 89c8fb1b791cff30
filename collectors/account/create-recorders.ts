import type { AccountCredentials } from '../../core/index.js';
import type { Recorder } from '../recorder.js';
import type { ShardAssignment } from '../shard-assignment.js';
import { type AccountParts, AccountRecorder } from './account-recorder.js';
import { ACTIVITY, ActivityRecorder } from './activity-recorder.js';

/**
 * Recorders of the accounts that belong to this collector, and of the activity feed if that does.
 * @throws UsageError for malformed credentials
 */
export function createAccountRecorders(
  accounts: readonly AccountCredentials[],
  assignment: ShardAssignment,
  parts: AccountParts,
): Recorder[] {
  // The activity feed may belong here although none of the accounts does.
  const all = accounts.map((account) => new AccountRecorder(account, parts));
  const clients = all.map(({ keyClient }) => keyClient).filter((client) => client !== undefined);
  const owned: Recorder[] = all.filter(({ name }) => assignment.owns(`account:${name}`));
  if (clients.length > 0 && assignment.owns(ACTIVITY)) owned.push(new ActivityRecorder(clients, parts));
  return owned;
}
