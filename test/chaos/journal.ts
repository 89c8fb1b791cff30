import type { Sent } from '../support/fault-proxy.js';

/** An insert that the proxy forwarded to ClickHouse. */
interface Insert extends Sent {
  readonly table: string;
  readonly token: Token;
  /** Whether the insert skips stored rows. */
  readonly onlyMissing: boolean;
}

/** The content of a deduplication token: the batch's range and the attempt. */
interface Token {
  readonly text: string;
  readonly log: string;
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
}

export interface RecordPosition {
  /** Absent if the table has no such column. */
  readonly topic?: string;
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
}

interface Event {
  readonly at: number;
  readonly what: string;
}

/** Events this long before the first and after the last insert of a batch are reported with them, milliseconds. */
const AROUND_MS = 5000;

/** Every insert that reached ClickHouse, and every injected fault: they explain why a row is stored twice. */
export class Journal {
  readonly #startedAt = performance.now();
  readonly #inserts: Insert[] = [];
  readonly #events: Event[] = [];

  /** For the proxy: records a request if it is an insert of a batch. */
  sent(sent: Sent): void {
    const table = /INSERT INTO `\w+`\.`(\w+)`/.exec(sent.path)?.[1];
    const token = tokenOf(sent.path);
    if (table === undefined || token === undefined) return;
    this.#inserts.push({ ...sent, path: '', table, token, onlyMissing: sent.path.includes(' NOT IN (') });
  }

  happened(what: string): void {
    this.#events.push({ at: performance.now(), what });
  }

  /** Every insert into a table whose batch contains one of the records, and the events at that time, in order. */
  about(table: string, records: readonly RecordPosition[]): string[] {
    const inserts = this.#inserts.filter(
      (insert) => insert.table === table && records.some((record) => holds(insert.token, record)),
    );
    if (inserts.length === 0) return [];
    const from = Math.min(...inserts.map(({ sentAt }) => sentAt)) - AROUND_MS;
    const to = Math.max(...inserts.map(({ endedAt }) => endedAt)) + AROUND_MS;
    const events = this.#events.filter(({ at }) => at >= from && at <= to);
    return [...events, ...inserts.map((insert) => ({ at: insert.sentAt, what: this.#told(insert) }))]
      .sort((a, b) => a.at - b.at)
      .map(({ at, what }) => `${this.#seconds(at)}  ${what}`);
  }

  /** Number of inserts into a table. */
  inserts(table: string): number {
    return this.#inserts.filter((insert) => insert.table === table).length;
  }

  /** The last events, oldest first. */
  last(events: number): string[] {
    return this.#events.slice(-events).map(({ at, what }) => `${this.#seconds(at)}  ${what}`);
  }

  #told({ table, token, fault, outcome, endedAt, onlyMissing }: Insert): string {
    const how = [onlyMissing ? ', what is missing' : '', fault ? `, fault ${fault}` : ''].join('');
    return `insert into ${table}${how}: ${outcome} at ${this.#seconds(endedAt).trim()}, token ${token.text}`;
  }

  #seconds(at: number): string {
    return `${((at - this.#startedAt) / 1000).toFixed(3).padStart(8)} s`;
  }
}

function tokenOf(path: string): Token | undefined {
  const [, text = ''] = /[?&]insert_deduplication_token=([^&]+)/.exec(path) ?? [];
  const [, log = '', topic = '', partition, start, end] = /^([^/]+)\/([^/]+)\/(\d+)\/(\d+)-(\d+)/.exec(text) ?? [];
  if (log === '') return undefined;
  return { text, log, topic, partition: Number(partition), start: Number(start), end: Number(end) };
}

const holds = (token: Token, { topic = token.topic, log, partition, offset }: RecordPosition): boolean =>
  token.log === log &&
  token.topic === topic &&
  token.partition === partition &&
  token.start <= offset &&
  offset <= token.end;
