import type { Request } from './request.js';

/** Finds the coordinator of a group. */
export function findCoordinatorRequest(group: string): Request<{ error: number; message: string; node: number }> {
  return {
    name: 'FindCoordinator',
    key: 10,
    version: 2,
    flexible: false,
    encode(writer) {
      writer.string(group).int8(0);
    },
    decode(reader) {
      reader.int32();
      return { error: reader.int16(), message: reader.string(), node: reader.int32() };
    },
  };
}

export interface JoinResponse {
  readonly error: number;
  readonly generation: number;
  readonly leader: string;
  readonly member: string;
  /** All members with their subscriptions; empty unless this member is the leader. */
  readonly members: readonly { readonly member: string; readonly subscription: Buffer }[];
}

interface JoinRequest {
  readonly group: string;
  readonly member: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly protocol: string;
  readonly subscription: Buffer;
}

export function joinGroupRequest(join: JoinRequest): Request<JoinResponse> {
  return {
    name: 'JoinGroup',
    key: 11,
    version: 5,
    flexible: false,
    waitMs: join.rebalanceTimeoutMs + join.sessionTimeoutMs,
    encode(writer) {
      writer
        .string(join.group)
        .int32(join.sessionTimeoutMs)
        .int32(join.rebalanceTimeoutMs)
        .string(join.member)
        .string(null)
        .string('consumer')
        .array([join], ({ protocol, subscription }, w) => w.string(protocol).sizedBytes(subscription));
    },
    decode(reader) {
      reader.int32();
      const error = reader.int16();
      const generation = reader.int32();
      reader.string();
      const leader = reader.string();
      const member = reader.string();
      const members = reader.array((r) => {
        const id = r.string();
        r.nullableString();
        return { member: id, subscription: r.sizedBytes() };
      });
      return { error, generation, leader, member, members };
    },
  };
}

export interface MemberRef {
  readonly group: string;
  readonly generation: number;
  readonly member: string;
}

/** Sends (as the leader) and receives the assignment of a generation. */
export function syncGroupRequest(
  ref: MemberRef,
  assignments: readonly { readonly member: string; readonly assignment: Buffer }[],
  waitMs: number,
): Request<{ error: number; assignment: Buffer }> {
  return {
    name: 'SyncGroup',
    key: 14,
    version: 3,
    flexible: false,
    waitMs,
    encode(writer) {
      writer
        .string(ref.group)
        .int32(ref.generation)
        .string(ref.member)
        .string(null)
        .array(assignments, (a, w) => w.string(a.member).sizedBytes(a.assignment));
    },
    decode(reader) {
      reader.int32();
      return { error: reader.int16(), assignment: reader.sizedBytes() };
    },
  };
}

export function heartbeatRequest(ref: MemberRef): Request<number> {
  return {
    name: 'Heartbeat',
    key: 12,
    version: 3,
    flexible: false,
    encode(writer) {
      writer.string(ref.group).int32(ref.generation).string(ref.member).string(null);
    },
    decode(reader) {
      reader.int32();
      return reader.int16();
    },
  };
}

export function leaveGroupRequest(ref: MemberRef): Request<number> {
  return {
    name: 'LeaveGroup',
    key: 13,
    version: 3,
    flexible: false,
    encode(writer) {
      writer.string(ref.group).array([ref.member], (member, w) => w.string(member).string(null));
    },
    decode(reader) {
      reader.int32();
      return reader.int16();
    },
  };
}
