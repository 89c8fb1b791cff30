import { createHash } from 'node:crypto';
import { fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReceivedRecord } from '../../collectors/publisher.js';
import { RECORD_KINDS } from '../../core/index.js';

/** The acknowledged records of one session: a line `topic sessionId n digest` per record, flushed to disk. */
export class Acknowledged {
  readonly #file: number;
  readonly #numbers = new Map<string, number>();
  #lines: string[] = [];

  constructor(
    path: string,
    private readonly sessionId: string,
  ) {
    this.#file = openSync(path, 'a');
  }

  /** Call it with each record in the order of publishing, and call the returned function when that record is durable. */
  expect({ kind, bodyJson }: ReceivedRecord): () => void {
    const topic = RECORD_KINDS[kind];
    const n = (this.#numbers.get(topic) ?? 0) + 1;
    this.#numbers.set(topic, n);
    const line = `${topic} ${this.sessionId} ${n} ${digest(bodyJson)}\n`;
    return () => void this.#lines.push(line);
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    writeSync(this.#file, this.#lines.join(''));
    this.#lines = [];
    fdatasyncSync(this.#file);
  }
}

/** The acknowledged records of all sessions in the folder: `topic sessionId n` and the digest of the body. */
export function readAcknowledged(folder: string): Map<string, string> {
  const records = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    // A line that a kill truncated is ignored: its record counts as not acknowledged.
    const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1);
    for (const line of lines) {
      const [topic, sessionId, n, digested] = line.split(' ');
      records.set(`${topic} ${sessionId} ${n}`, digested ?? '');
    }
  }
  return records;
}

export const digest = (text: string): string => createHash('sha1').update(text).digest('base64').slice(0, 12);
