import { fstatSync, readdirSync } from 'node:fs';
import { DataType, load, open } from 'ffi-rs';

/**
 * Ends HTTP connections of this process that send nothing, in place of ClickHouse's own timeouts: in this library a timeout
 * in the middle of a request's header ends the whole process, while the end of a connection does not. A connection on which
 * a query runs is left alone: it may be cancelled when the connection ends, and its client may send the next one on it.
 * An INSERT whose rows the client sends is none: the client may have stopped in the middle of them.
 */

const CHECK_MS = 500;
/**
 * A connection on which nothing was received or sent for this long, and no such query runs, has no more input. Sent, too: the
 * client of a query that took longer may send the next one on it.
 */
const IDLE_MS = 5000;
/** The same in the middle of a body: its sender may be busy. */
const BODY_IDLE_MS = 30_000;
/** A connection without a response must have sent more after this time: a header that trickles in is given up. */
const SLOW_MS = 15_000;
/** More than a request without a body has. What is still unread of a larger one waits for ClickHouse, not for the client. */
const SMALL_BYTES = 16_384n;

const LIBRARY = 'chancery-connections';
const { I32, U8Array } = DataType;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const SHUT_RD = 0;
const PEEK_WITHOUT_WAITING = 0x42;
const ESTABLISHED = 1;
/** Positions in Linux's `struct tcp_info`. */
const AT = { state: 0, lastDataSent: 44, lastDataReceived: 52, bytesAcknowledged: 120, bytesReceived: 128 } as const;
const INFO_BYTES = 136;
const ADDRESS_BYTES = 28;

interface Silent {
  /** Port of the client. */
  readonly client: number;
  /** Bytes that were received from it. */
  readonly received: bigint;
  /** Whether it is ended even if more has been received. */
  readonly slow: boolean;
}

/** The client ports of the queries that run; undefined when the server does not respond. */
export type RunningPorts = () => Promise<ReadonlySet<number> | undefined>;

/** Checks the connections of a port of this process from now on. Linux only. */
export function guardConnections(port: number, runningPorts: RunningPorts): NodeJS.Timeout {
  open({ library: LIBRARY, path: '' });
  /** When each connection that has no response yet was first seen, by descriptor. */
  let firstSeen = new Map<number, number>();
  /** Silent connections, by descriptor. */
  const findSilent = (): Map<number, Silent> => {
    const now = performance.now();
    const seen = new Map<number, number>();
    const silent = new Map<number, Silent>();
    for (const name of readdirSync('/proc/self/fd')) {
      const fd = Number(name);
      // Most are files; asking for a port takes much longer than asking for the type.
      if (!isSocket(fd) || portOf(fd, 'getsockname') !== port) continue;
      const info = tcpInfo(fd);
      if (info?.readUInt8(AT.state) !== ESTABLISHED) continue;
      // It acknowledges the connection's first segment, too.
      const responded = info.readBigUInt64LE(AT.bytesAcknowledged) > 1n;
      const since = firstSeen.get(fd) ?? now;
      if (!responded) seen.set(fd, since);
      const received = info.readBigUInt64LE(AT.bytesReceived);
      const small = received < SMALL_BYTES;
      const slow = small && !responded && now - since > SLOW_MS;
      const idleMs = Math.min(info.readUInt32LE(AT.lastDataReceived), info.readUInt32LE(AT.lastDataSent));
      const idle = small ? idleMs > IDLE_MS : idleMs > BODY_IDLE_MS && !hasUnread(fd);
      if (slow || idle) silent.set(fd, { client: portOf(fd, 'getpeername') ?? 0, received, slow });
    }
    firstSeen = seen;
    return silent;
  };
  let running: ReadonlySet<number> = new Set();
  /** Those without a query at the last check. */
  let suspects: ReadonlyMap<number, Silent> = new Map();
  const check = async () => {
    const former = suspects;
    const silent = findSilent();
    suspects = silent;
    if (silent.size === 0) return;
    // A server that is too busy to say so still runs the queries that it ran before.
    running = (await runningPorts()) ?? running;
    for (const [fd, { client, received, slow }] of silent) {
      if (running.has(client)) silent.delete(fd);
      // A query that has just ended is not sent yet: it is found silent once more.
      else if (former.get(fd)?.client === client && portOf(fd, 'getpeername') === client) {
        // The next query may have arrived.
        if (slow || tcpInfo(fd)?.readBigUInt64LE(AT.bytesReceived) === received) endInput(fd);
      }
    }
  };
  let checking = false;
  return setInterval(() => {
    if (checking) return;
    checking = true;
    void check().finally(() => {
      checking = false;
    });
  }, CHECK_MS);
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false; // It was closed meanwhile.
  }
}

/** The local port of a socket, or that of its peer; undefined for another file. */
function portOf(fd: number, funcName: 'getsockname' | 'getpeername'): number | undefined {
  const address = Buffer.alloc(ADDRESS_BYTES);
  const length = lengthOf(address);
  const paramsValue = [fd, address, length];
  const result = load({
    library: LIBRARY,
    funcName,
    retType: I32,
    paramsType: [I32, U8Array, U8Array],
    paramsValue,
  });
  return result === 0 ? address.readUInt16BE(2) : undefined;
}

/** Undefined for a socket that is not a TCP connection. */
function tcpInfo(fd: number): Buffer | undefined {
  const info = Buffer.alloc(INFO_BYTES);
  const paramsType = [I32, I32, I32, U8Array, U8Array];
  const paramsValue = [fd, IPPROTO_TCP, TCP_INFO, info, lengthOf(info)];
  return load({ library: LIBRARY, funcName: 'getsockopt', retType: I32, paramsType, paramsValue }) === 0
    ? info
    : undefined;
}

/** Whether the process has not read all that was received. */
function hasUnread(fd: number): boolean {
  const paramsType = [I32, U8Array, I32, I32];
  const paramsValue = [fd, Buffer.alloc(1), 1, PEEK_WITHOUT_WAITING];
  return load({ library: LIBRARY, funcName: 'recv', retType: I32, paramsType, paramsValue }) > 0;
}

function endInput(fd: number): void {
  load({ library: LIBRARY, funcName: 'shutdown', retType: I32, paramsType: [I32, I32], paramsValue: [fd, SHUT_RD] });
}

function lengthOf(buffer: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(buffer.length);
  return length;
}
