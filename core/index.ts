export type { AccountCredentials } from './accounts.js';
export { removeDrafts, syncFolder, writeFileAtomic, writeFileAtomicSync } from './atomic-file.js';
export { BoundedQueue } from './bounded-queue.js';
export { type Clock, systemClock } from './clock.js';
export { parseClusterNodes } from './cluster-nodes.js';
export {
  AUDIT_REASONS,
  type AuditedPrices,
  type AuditReason,
  type AuditReport,
  CLEAN_SHUTDOWN,
  COLLECTOR_EVENT_FIELDS,
  COLLECTOR_EVENT_TYPES,
  type CollectorEvent,
  collectorEventSchema,
  ENDS_OBSERVED_RANGE,
  type PollReceipt,
} from './collector-event.js';
export { CONFIG_FILE, envOf, flagOf, loadAccounts, loadConfig, nearest, resolveConfig } from './config.js';
export { parseDecimal12 } from './decimal12.js';
export { DEFAULT_PORTS } from './default-ports.js';
export { type Deferred, deferred } from './deferred.js';
export { drained } from './drained.js';
export {
  ChanceryError,
  describeError,
  IntegrityError,
  isPermanent,
  isRetryable,
  UnavailableError,
  UsageError,
} from './errors.js';
export {
  EXCHANGE_HOSTS,
  type ExchangeAddresses,
  exchangeAddresses,
  hostNames,
  type PrivateStreamHost,
  type PrivateStreamPath,
  type RestHost,
  type StreamHost,
} from './exchange-addresses.js';
export { FileLock } from './file-lock.js';
export { isFreePort } from './free-port.js';
export { groupBy } from './group-by.js';
export { sha256, sha256Hex } from './hash.js';
export { type Health, HealthServer } from './http-health.js';
export { countJsonNames, countNames, JSON_BYTES, type JsonMember, jsonExcess, jsonMembers } from './json-bytes.js';
export { type Component, Lifecycle, processSignal, Stopped } from './lifecycle.js';
export { listenError } from './listen-error.js';
export { createLogger, type Logger } from './log.js';
export { makeFolder } from './make-folder.js';
export { OutageLog } from './outage-log.js';
export { packageRoot, packageVersion } from './package.js';
export { printable } from './printable.js';
export { identityOf, isAlive, isRunning, ownIdentity, type ProcessIdentity } from './process-identity.js';
export { ProcessLock } from './process-lock.js';
export { untilAborted, withTimeout } from './promises.js';
export { Random } from './random.js';
export {
  DIVERGED,
  type EncodedBody,
  type EnvelopeFields,
  type EnvelopeJson,
  EVENT_STREAM_TABLES,
  EVENT_STREAMS,
  encodeBody,
  encodeEnvelope,
  FRAME_TOO_LARGE,
  PUBLIC_POLLS,
  PUBLIC_TOPICS,
  type PublicPoll,
  type RawRecord,
  RECORD_KINDS,
  type RecordKind,
  type RestRequest,
  recordOf,
  STREAM_KINDS,
  STREAM_NAMES,
  type StreamName,
  type StreamRequest,
  TOPICS,
  type Topic,
  type UnchangedEntries,
} from './record.js';
export { Backoff, backoffMs, retry } from './retry.js';
export { ScratchFolder } from './scratch-folder.js';
export { newPassword, Secret } from './secret.js';
export {
  type CollectSettings,
  collectSettings,
  SETTINGS,
  type Setting,
  type SettingName,
  type Settings,
  type TransformSettings,
  transformSettings,
} from './settings.js';
export { countChunk, countGarbage, keepHeapSmall } from './small-heap.js';
export { STOP_MS } from './stop-times.js';
export { BOTS_USER_AGENT, USER_AGENT } from './user-agents.js';
