/** The error codes of Kafka's protocol that are handled here. */
export const ERROR = {
  none: 0,
  offsetOutOfRange: 1,
  corruptMessage: 2,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeader: 6,
  requestTimedOut: 7,
  messageTooLarge: 10,
  offsetMetadataTooLarge: 12,
  coordinatorLoading: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  invalidTopic: 17,
  recordListTooLarge: 18,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  illegalGeneration: 22,
  inconsistentGroupProtocol: 23,
  unknownMember: 25,
  invalidSessionTimeout: 26,
  rebalanceInProgress: 27,
  topicAuthorizationFailed: 29,
  groupAuthorizationFailed: 30,
  clusterAuthorizationFailed: 31,
  unsupportedVersion: 35,
  topicAlreadyExists: 36,
  invalidReplicationFactor: 38,
  notController: 41,
  policyViolation: 44,
  outOfOrderSequence: 45,
  duplicateSequence: 46,
  invalidProducerEpoch: 47,
  storageError: 56,
  unknownProducerId: 59,
  fencedLeaderEpoch: 74,
  unknownLeaderEpoch: 75,
  offsetNotAvailable: 78,
  memberIdRequired: 79,
  throttlingQuotaExceeded: 89,
  unknownTopicId: 100,
  inconsistentTopicId: 103,
} as const;

const names = new Map<number, string>(
  Object.entries(ERROR).map(([name, code]) => [code, name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)]),
);

/** Retriable codes: leaders move, replicas catch up, coordinators load. */
const TRANSIENT = new Set<number>([
  ERROR.unknownTopicOrPartition,
  ERROR.leaderNotAvailable,
  ERROR.notLeader,
  ERROR.requestTimedOut,
  ERROR.coordinatorLoading,
  ERROR.coordinatorNotAvailable,
  ERROR.notCoordinator,
  ERROR.notEnoughReplicas,
  ERROR.notEnoughReplicasAfterAppend,
  ERROR.notController,
  ERROR.storageError,
  ERROR.fencedLeaderEpoch,
  ERROR.unknownLeaderEpoch,
  ERROR.offsetNotAvailable,
  ERROR.throttlingQuotaExceeded,
  ERROR.unknownTopicId,
  ERROR.inconsistentTopicId,
]);

/** `not leader (6)`. */
export const nameOf = (code: number): string => `${names.get(code) ?? 'error'} (${code})`;
export const isTransientCode = (code: number): boolean => TRANSIENT.has(code);
