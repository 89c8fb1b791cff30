import { backoffMs, describeError, type Logger, retry, untilAborted, withTimeout } from '../../../core/index.js';
import { AutoResetEvent } from '../auto-reset-event.js';
import type { Cluster } from '../cluster.js';
import { isTransient, retryWithin, TransientError, throwOn } from '../faults.js';
import { ERROR } from '../protocol/error-codes.js';
import {
  heartbeatRequest,
  type JoinResponse,
  joinGroupRequest,
  leaveGroupRequest,
  type MemberRef,
  syncGroupRequest,
} from '../protocol/group.js';
import type { Request } from '../protocol/request.js';
import { GroupLeader } from './group-leader.js';
import { type Assignment, decodeAssignment, encodeSubscription } from './subscription.js';

/** Name of the assignment protocol: the broker refuses members with another one. */
const PROTOCOL = 'chancery-cooperative';
const LEAVE_TIMEOUT_MS = 1_000;
const WARN_EVERY_MS = 30_000;

interface MemberOptions {
  readonly group: string;
  readonly topics: readonly string[];
  /** Without a heartbeat for this long the broker removes a member from the group, milliseconds. */
  readonly sessionTimeoutMs: number;
  /** How long members may take to rejoin during a rebalance, milliseconds. */
  readonly rebalanceTimeoutMs: number;
  /** How often the leader checks whether topics changed, milliseconds. */
  readonly topicsEveryMs: number;
  /** Suffix of the purposes of this consumer's connections. */
  readonly scope: string;
  readonly log: Logger | undefined;
}

interface MemberEvents {
  /** The partitions that this member holds. */
  owned(): Assignment;
  /**
   * A new generation began. `claimed` are the partitions that this member declared when it joined. The callee releases
   * those that are not in `assignment` and then calls `rejoin`, so that they can be assigned to others.
   */
  assigned(assignment: Assignment, claimed: Assignment): void;
  /** The broker removed this member from the group: its partitions may be assigned to others. */
  lost(): void;
}

interface FencedOptions {
  /** Throws when this member does not hold the partition any more; called before each try. */
  readonly assertHeld: () => void;
  /** Stops the retries, which otherwise continue while no broker responds. */
  readonly signal: AbortSignal;
  readonly hint?: string;
}

/**
 * A member of a consumer group, in Kafka's classic group protocol. It rejoins at every rebalance and retains its partitions
 * meanwhile (`assign` decides which of them it retains).
 */
export class GroupMember {
  #member = '';
  /** The last generation with an assignment for this member; -1 outside of the group. */
  #generation = -1;
  #ended = false;
  #rejoin = false;
  readonly #wake = new AutoResetEvent();
  /** Resolve the promises of `#confirm`. */
  #unconfirmed: (() => void)[] = [];
  readonly #leader: GroupLeader;
  #warnedAt = -Infinity;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: MemberOptions,
    private readonly events: MemberEvents,
  ) {
    this.#leader = new GroupLeader(cluster, options.topicsEveryMs);
  }

  /** Joins the group and stays a member until the signal is aborted, then leaves. Rejects with a permanent error. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake.set();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        await untilAborted(this.#join(signal), signal);
        await untilAborted(this.#sendHeartbeats(signal), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', wake);
      this.#ended = true;
      this.#resolveUnconfirmed();
      await withTimeout(LEAVE_TIMEOUT_MS, this.#leave());
    }
  }

  /** Starts a rebalance, because partitions were released. */
  rejoin(): void {
    this.#rejoin = true;
    this.#wake.set();
  }

  /**
   * Sends a request that the broker accepts only from a member of the current generation; retries in the next generation
   * if a rebalance comes between.
   */
  async fenced(make: (ref: MemberRef) => Request<number>, doing: string, options: FencedOptions): Promise<void> {
    const { assertHeld, signal, hint } = options;
    const trying = retryWithin(
      async () => {
        assertHeld();
        const ref = { group: this.options.group, generation: this.#generation, member: this.#member };
        // With generation -1 the broker would accept a commit without checking membership.
        const error = ref.generation < 0 ? ERROR.unknownMember : await this.#send(make(ref), 'offsets');
        if (error === ERROR.unknownMember || error === ERROR.illegalGeneration || error === ERROR.rebalanceInProgress) {
          // Either a rebalance is under way, after which this is retried, or this member was removed.
          await this.#confirm();
          assertHeld();
          throw new TransientError(doing, error);
        }
        this.#throwOn(error, doing, hint);
      },
      { withinMs: Infinity, signal },
    );
    await untilAborted(trying, signal);
  }

  /** Resolves when the broker confirms that this consumer is still a member. */
  async verify(options: FencedOptions): Promise<void> {
    const heartbeat = (ref: MemberRef): Request<number> => {
      const request = heartbeatRequest(ref);
      const decode: typeof request.decode = (reader) => {
        const error = request.decode(reader);
        // The broker reports a rebalance to members only.
        return error === ERROR.rebalanceInProgress ? ERROR.none : error;
      };
      return { ...request, decode };
    };
    await this.fenced(heartbeat, 'confirm the membership', options);
    options.assertHeld();
  }

  /** Resolves when the broker has confirmed the membership, in this generation or the next, or it is lost. */
  #confirm(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise<void>((resolve) => {
      this.#unconfirmed.push(resolve);
      this.#wake.set();
    });
  }

  #resolveUnconfirmed(waiting: readonly (() => void)[] = this.#unconfirmed.splice(0)): void {
    for (const resolve of waiting) resolve();
  }

  async #join(signal: AbortSignal): Promise<void> {
    this.#rejoin = false;
    await retry(
      async () => {
        while (!(await this.#joinOnce())) signal.throwIfAborted();
      },
      {
        attempts: Infinity,
        signal,
        baseMs: 50,
        capMs: 1000,
        retryable: isTransient,
        onRetry: (error) => this.#warn('join', error),
      },
    );
    this.#resolveUnconfirmed();
  }

  /** Sends JoinGroup and SyncGroup once; false when they must be sent again at once. */
  async #joinOnce(): Promise<boolean> {
    const { group, sessionTimeoutMs, rebalanceTimeoutMs, topics } = this.options;
    const claimed = this.events.owned();
    const subscription = encodeSubscription({ topics, owned: claimed, generation: this.#generation });
    const identity = { group, member: this.#member, sessionTimeoutMs, rebalanceTimeoutMs };
    const joined = await this.#send(joinGroupRequest({ ...identity, protocol: PROTOCOL, subscription }), 'join');
    if (joined.error === ERROR.memberIdRequired) {
      this.#member = joined.member;
      return false;
    }
    if (joined.error === ERROR.unknownMember) {
      this.#loseMembership(joined.error);
      return false;
    }
    this.#throwOn(joined.error, `let this consumer join group ${group}`, hintOf(joined.error, this.options));
    this.#member = joined.member;
    return await this.#sync(joined, claimed);
  }

  async #sync(joined: JoinResponse, claimed: Assignment): Promise<boolean> {
    const { group, rebalanceTimeoutMs } = this.options;
    const leads = joined.leader === joined.member;
    const assignments = leads ? await this.#leader.assign(joined.members) : [];
    if (!leads) this.#leader.end();
    const ref = { group, generation: joined.generation, member: joined.member };
    const synced = await this.#send(syncGroupRequest(ref, assignments, rebalanceTimeoutMs), 'join');
    if (synced.error === ERROR.rebalanceInProgress || synced.error === ERROR.illegalGeneration) return false;
    if (synced.error === ERROR.unknownMember) {
      this.#loseMembership(synced.error);
      return false;
    }
    this.#throwOn(synced.error, `assign partitions in group ${group}`);
    this.#generation = joined.generation;
    this.events.assigned(decodeAssignment(synced.assignment), claimed);
    return true;
  }

  /** Sends heartbeats until the member has to rejoin. */
  async #sendHeartbeats(signal: AbortSignal): Promise<void> {
    const everyMs = Math.min(3000, Math.max(100, this.options.sessionTimeoutMs / 5));
    for (let failures = 0; ; ) {
      await this.#wake.wait(failures > 0 ? backoffMs(failures, { baseMs: 50, capMs: everyMs }) : everyMs);
      if (signal.aborted || this.#rejoin) return;
      const waiting = this.#unconfirmed.splice(0);
      try {
        if (await this.#leader.topicsChanged()) return void this.#unconfirmed.push(...waiting);
        const error = await this.#heartbeat();
        if (error === ERROR.none) {
          failures = 0;
          this.#resolveUnconfirmed(waiting);
          continue;
        }
        this.#unconfirmed.push(...waiting);
        if (error === ERROR.rebalanceInProgress) return;
        return this.#loseMembership(error);
      } catch (error) {
        if (!isTransient(error)) throw error;
        this.#unconfirmed.push(...waiting);
        this.#warn('send a heartbeat to', error);
        failures = Math.min(failures + 1, 10);
      }
    }
  }

  /** Sends a heartbeat; returns its error code if it concerns the membership, and throws other errors. */
  async #heartbeat(): Promise<number> {
    const { group } = this.options;
    const error = await this.#send(
      heartbeatRequest({ group, generation: this.#generation, member: this.#member }),
      'join',
    );
    const handled: number[] = [ERROR.rebalanceInProgress, ERROR.unknownMember, ERROR.illegalGeneration];
    if (!handled.includes(error)) this.#throwOn(error, `accept a heartbeat in group ${group}`);
    return error;
  }

  /** The broker removed this member from the group. */
  #loseMembership(error: number): void {
    this.options.log?.warn({ group: this.options.group, error }, 'removed from the consumer group; rejoining');
    if (error === ERROR.unknownMember) this.#member = '';
    this.#generation = -1;
    this.events.lost();
    this.#resolveUnconfirmed();
  }

  async #leave(): Promise<void> {
    if (this.#member === '') return;
    const { group } = this.options;
    const ref = { group, generation: this.#generation, member: this.#member };
    // If this fails, the broker removes the member after the session timeout.
    await this.#send(leaveGroupRequest(ref), 'offsets').catch(() => undefined);
  }

  async #send<T>(request: Request<T>, purpose: string): Promise<T> {
    const node = await this.cluster.coordinator(this.options.group);
    return await this.cluster.send(node, `${purpose}${this.options.scope}`, request);
  }

  #throwOn(error: number, doing: string, hint?: string): void {
    if (error !== ERROR.none) this.cluster.forgetCoordinator(this.options.group);
    throwOn(error, doing, hint);
  }

  #warn(doing: string, error: unknown): void {
    if (performance.now() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = performance.now();
    this.options.log?.warn(
      { group: this.options.group },
      `cannot ${doing} the group, retrying: ${describeError(error)}`,
    );
  }
}

function hintOf(error: number, options: MemberOptions): string | undefined {
  if (error === ERROR.inconsistentGroupProtocol) {
    return `group ${options.group} is used by consumers with another assignment protocol; choose another name with --group`;
  }
  if (error === ERROR.invalidSessionTimeout) {
    return `the broker's group.min.session.timeout.ms and group.max.session.timeout.ms do not allow --kafka-session-ms ${options.sessionTimeoutMs}`;
  }
  return undefined;
}
