import { backoffMs, describeError, type Logger, retry } from '../../../core/index.js';
import type { Cluster } from '../cluster.js';
import { PassingError, passes, patiently, throwOn } from '../faults.js';
import { Notice } from '../notice.js';
import { ERROR } from '../protocol/error-codes.js';
import {
  heartbeatRequest,
  type JoinAnswer,
  joinGroupRequest,
  leaveGroupRequest,
  type MemberRef,
  syncGroupRequest,
} from '../protocol/group.js';
import type { Request } from '../protocol/request.js';
import { atMost, untilAborted } from '../waiting.js';
import { Leadership } from './leadership.js';
import { type Assignment, decodeAssignment, encodeSubscription } from './subscription.js';

/** Ours alone: the broker keeps members that divide partitions otherwise out of the group. */
const PROTOCOL = 'chancery-cooperative';
const LEAVE_PATIENCE_MS = 1_000;
const WARN_EVERY_MS = 30_000;

export interface MemberOptions {
  readonly group: string;
  readonly topics: readonly string[];
  /** After so long without a sign of life the broker gives a member's partitions to others, milliseconds. */
  readonly sessionTimeoutMs: number;
  /** How long members may take to join again when the group changes, milliseconds. */
  readonly rebalanceTimeoutMs: number;
  /** How often the leader looks whether topics changed, milliseconds. */
  readonly topicsEveryMs: number;
  /** Ends the purposes of this consumer's connections. */
  readonly scope: string;
  readonly log: Logger | undefined;
}

export interface MemberEvents {
  /** What this member holds and has not let go of. */
  owned(): Assignment;
  /**
   * A generation began, with this for us, after we had said that we hold `claimed`. What is not in it any more is let go
   * of, and then `rejoin` called, so that others can have it.
   */
  assigned(assignment: Assignment, claimed: Assignment): void;
  /** The group goes on without us: everything that we held may belong to others. */
  lost(): void;
}

export interface FencedOptions {
  readonly stillOurs: () => void;
  readonly signal: AbortSignal;
  readonly hint?: string;
}

/**
 * A member of a consumer group, in Kafka's classic group protocol. It joins again whenever the group changes, and holds
 * on to what it has meanwhile (`assign` says who gets what).
 */
export class GroupMember {
  #member = '';
  /** The last generation that we were given an assignment in; -1 when we are in none. */
  #generation = -1;
  #ended = false;
  #rejoin = false;
  readonly #wake = new Notice();
  #waiting: (() => void)[] = [];
  readonly #leadership: Leadership;
  #warnedAt = -Infinity;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: MemberOptions,
    private readonly events: MemberEvents,
  ) {
    this.#leadership = new Leadership(cluster, options.topicsEveryMs);
  }

  /** Takes part until the signal is aborted, then leaves. Rejects when the broker refuses us for good. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake.give();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        await untilAborted(this.#join(signal), signal);
        await untilAborted(this.#beat(signal), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', wake);
      this.#ended = true;
      this.#settle();
      await atMost(LEAVE_PATIENCE_MS, this.#leave());
    }
  }

  /** Asks for a new generation, because something was let go of. */
  rejoin(): void {
    this.#rejoin = true;
    this.#wake.give();
  }

  /**
   * Sends a request that the broker takes only from a member in its generation; if the generation changes meanwhile,
   * again in the new one.
   * @param about `stillOurs` throws when what the request is about is not ours any more, and is called before each try;
   *   `signal` ends the trying, which otherwise goes on for as long as no broker answers
   */
  async fenced(make: (ref: MemberRef) => Request<number>, doing: string, about: FencedOptions): Promise<void> {
    const { stillOurs, signal, hint } = about;
    const trying = patiently(
      async () => {
        stillOurs();
        const ref = { group: this.options.group, generation: this.#generation, member: this.#member };
        // Outside of a generation the broker would take a commit from anybody.
        const error = ref.generation < 0 ? ERROR.unknownMember : await this.#ask(make(ref), 'offsets');
        if (error === ERROR.unknownMember || error === ERROR.illegalGeneration || error === ERROR.rebalanceInProgress) {
          // Either a new generation is being made, in which we go on, or the group went on without us.
          await this.#confirm();
          stillOurs();
          throw new PassingError(doing, error);
        }
        this.#throwOn(error, doing, hint);
      },
      { forMs: Infinity, signal },
    );
    await untilAborted(trying, signal);
  }

  /** Resolves when the broker says that we are a member still; `about` as in `fenced`. */
  async verify(about: FencedOptions): Promise<void> {
    const heartbeat = (ref: MemberRef): Request<number> => {
      const request = heartbeatRequest(ref);
      const decode: typeof request.decode = (reader) => {
        const error = request.decode(reader);
        // That a new generation is being made is only said to members.
        return error === ERROR.rebalanceInProgress ? ERROR.none : error;
      };
      return { ...request, decode };
    };
    await this.fenced(heartbeat, 'confirm that we are in the group', about);
    about.stillOurs();
  }

  /** Resolves when the broker has confirmed our part, in this generation or a new one, or we have lost it. */
  #confirm(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#wake.give();
    });
  }

  #settle(waiting: readonly (() => void)[] = this.#waiting.splice(0)): void {
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
        retryable: passes,
        onRetry: (error) => this.#warn('join', error),
      },
    );
    this.#settle();
  }

  /** One round of joining; false when it has to be done again at once. */
  async #joinOnce(): Promise<boolean> {
    const { group, sessionTimeoutMs, rebalanceTimeoutMs, topics } = this.options;
    const claimed = this.events.owned();
    const subscription = encodeSubscription({ topics, owned: claimed, generation: this.#generation });
    const identity = { group, member: this.#member, sessionTimeoutMs, rebalanceTimeoutMs };
    const joined = await this.#ask(joinGroupRequest({ ...identity, protocol: PROTOCOL, subscription }), 'join');
    if (joined.error === ERROR.memberIdRequired) {
      this.#member = joined.member;
      return false;
    }
    if (joined.error === ERROR.unknownMember) {
      this.#drop(joined.error);
      return false;
    }
    this.#throwOn(joined.error, `let us join group ${group}`, hintOf(joined.error, this.options));
    this.#member = joined.member;
    return await this.#sync(joined, claimed);
  }

  async #sync(joined: JoinAnswer, claimed: Assignment): Promise<boolean> {
    const { group, rebalanceTimeoutMs } = this.options;
    const leads = joined.leader === joined.member;
    const assignments = leads ? await this.#leadership.divide(joined.members) : [];
    if (!leads) this.#leadership.end();
    const ref = { group, generation: joined.generation, member: joined.member };
    const synced = await this.#ask(syncGroupRequest(ref, assignments, rebalanceTimeoutMs), 'join');
    if (synced.error === ERROR.rebalanceInProgress || synced.error === ERROR.illegalGeneration) return false;
    if (synced.error === ERROR.unknownMember) {
      this.#drop(synced.error);
      return false;
    }
    this.#throwOn(synced.error, `give us a part in group ${group}`);
    this.#generation = joined.generation;
    this.events.assigned(decodeAssignment(synced.assignment), claimed);
    return true;
  }

  /** Signs of life, until the group has to be joined again. */
  async #beat(signal: AbortSignal): Promise<void> {
    const everyMs = Math.min(3000, Math.max(100, this.options.sessionTimeoutMs / 5));
    for (let failures = 0; ; ) {
      await this.#wake.taken(failures > 0 ? backoffMs(failures, { baseMs: 50, capMs: everyMs }) : everyMs);
      if (signal.aborted || this.#rejoin) return;
      const waiting = this.#waiting.splice(0);
      try {
        if (await this.#leadership.topicsChanged()) return void this.#waiting.push(...waiting);
        const error = await this.#heartbeat();
        if (error === ERROR.none) {
          failures = 0;
          this.#settle(waiting);
          continue;
        }
        this.#waiting.push(...waiting);
        if (error === ERROR.rebalanceInProgress) return;
        return this.#drop(error);
      } catch (error) {
        if (!passes(error)) throw error;
        this.#waiting.push(...waiting);
        this.#warn('stay in', error);
        failures = Math.min(failures + 1, 10);
      }
    }
  }

  /** What a heartbeat's answer means for our membership; other errors are thrown. */
  async #heartbeat(): Promise<number> {
    const { group } = this.options;
    const error = await this.#ask(
      heartbeatRequest({ group, generation: this.#generation, member: this.#member }),
      'join',
    );
    const ours: number[] = [ERROR.rebalanceInProgress, ERROR.unknownMember, ERROR.illegalGeneration];
    if (!ours.includes(error)) this.#throwOn(error, `keep us in group ${group}`);
    return error;
  }

  /** We are not a member any more. */
  #drop(error: number): void {
    this.options.log?.warn({ group: this.options.group, error }, 'the group went on without this member; joining anew');
    if (error === ERROR.unknownMember) this.#member = '';
    this.#generation = -1;
    this.events.lost();
    this.#settle();
  }

  async #leave(): Promise<void> {
    if (this.#member === '') return;
    const { group } = this.options;
    const ref = { group, generation: this.#generation, member: this.#member };
    // Whoever does not get to say goodbye is missed after the session's time.
    await this.#ask(leaveGroupRequest(ref), 'offsets').catch(() => undefined);
  }

  async #ask<T>(request: Request<T>, purpose: string): Promise<T> {
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
    this.options.log?.warn({ group: this.options.group }, `cannot ${doing} the group for now: ${describeError(error)}`);
  }
}

function hintOf(error: number, options: MemberOptions): string | undefined {
  if (error === ERROR.inconsistentGroupProtocol) {
    return `group ${options.group} is used by consumers of another kind; choose another name with --group`;
  }
  if (error === ERROR.invalidSessionTimeout) {
    return `the broker's group.min.session.timeout.ms and group.max.session.timeout.ms do not allow ${options.sessionTimeoutMs}`;
  }
  return undefined;
}
