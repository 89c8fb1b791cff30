import type { AccountCredentials } from '../../core/index.js';
import type { Recorder } from '../recorder.js';
import type { ShardAssignment } from '../shard-assignment.js';
import { type AccountParts, AccountRecorder } from './account-recorder.js';
import { ACTIVITY, ActivityRecorder } from './activity-recorder.js';

/**
 * Creates the recorders of the accounts assigned to this collector, and of the activity feed if it is.
 * @throws UsageError for malformed credentials
 */
export function createAccountRecorders(
  accounts: readonly AccountCredentials[],
  assignment: ShardAssignment,
  parts: AccountParts,
): Recorder[] {
  // The activity feed may be assigned to this collector although no account is.
  const all = accounts.map((account) => new AccountRecorder(account, parts));
  const clients = all.map(({ keyClient }) => keyClient).filter((client) => client !== undefined);
  const owned: Recorder[] = all.filter(({ name }) => assignment.owns(`account:${name}`));
  if (clients.length > 0 && assignment.owns(ACTIVITY)) owned.push(new ActivityRecorder(clients, parts));
  return owned;
}
