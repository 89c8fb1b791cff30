import type { RecordBatch } from '../../bus/index.js';
import type { ValidationIssue } from '../../client/index.js';
import type { TableBlock } from '../../warehouse/index.js';
import { transformRecord } from '../kinds/transform-record.js';
import { Interned } from '../native/interned.js';
import { type BrokenEnvelope, type Envelope, readEnvelope } from '../record/envelope.js';
import { OrderBookScanner } from '../record/order-book-scanner.js';
import type { Privacy } from '../record/privacy.js';
import { RecordOutput } from '../record/record-output.js';
import { deadLetters } from '../tables/dead-letters.js';
import { PriceTickBlock } from '../tables/price-ticks.js';
import { RawRecordBlock } from '../tables/raw-records.js';
import { RowBlocks } from '../tables/row-blocks.js';
import type { SourcePartition } from '../tables/row-table.js';
import { MonthLimit } from './month-limit.js';
import { type Incomplete, PieceJoiner, type ReadRecord } from './piece-joiner.js';
import type { SessionCursor, SessionProgress } from './session-progress.js';

export interface BatchOptions {
  readonly source: SourcePartition;
  /** What the partition had taken before the batch; the builder advances it. */
  readonly progress: SessionProgress;
  /** How long `raw_records` stores requests and bodies of records without a dead letter, days; 0 stores none. */
  readonly bodyDays: number;
  /** How usernames are stored. */
  readonly privacy: Privacy;
  /** A batch is full with this many rows in one table, or bytes in all; a record is never split. */
  readonly limits: BuilderLimits;
}

export interface BuilderLimits {
  readonly rows: number;
  readonly bytes: number;
  /** What a batch may have at most that waits for pieces of a body, these included. */
  readonly bytesWithPieces: number;
  /** Months of receive time, which are table partitions. */
  readonly months: number;
}

/** Counts of what a batch's records were. */
interface BatchStats {
  readonly records: number;
  /** Records that had been taken before and were dropped. */
  readonly duplicates: number;
  readonly deadLetters: number;
  readonly extraFields: number;
  readonly exchangeErrors: number;
  /** Latest receive time, Unix microseconds; 0 without one. */
  readonly lastReceivedAt: number;
}

/** Every row that the records of an offset range become. */
export interface BuiltBatch {
  readonly start: number;
  readonly end: number;
  readonly blocks: readonly TableBlock[];
  readonly stats: BatchStats;
}

/** How often limits are checked on the fast path, records. */
const CHECK_EVERY = 32;
/** A full batch that waits for pieces of a body may grow to this many times its limit of rows. */
const WAIT_FACTOR = 2;
/** Frames with more entries take the general path, which bounds the dead letters of a record. */
const MAX_SCANNED_ENTRIES = 1000;

/**
 * Makes the rows of one partition's batches, record by record. What a batch's rows are depends only on its offset
 * range, the records in it and what the partition had taken before: the same range built again gives the same bytes.
 */
export class BatchBuilder {
  readonly #options: BatchOptions;
  readonly #joiner = new PieceJoiner();
  readonly #rowBlocks: RowBlocks;
  readonly #months: MonthLimit;
  #interned = new Interned();
  #scanner: OrderBookScanner;
  #ticks: PriceTickBlock;
  #raw: RawRecordBlock;
  /** By the session's number in the ID table. */
  #cursors: SessionCursor[] = [];
  #start = -1;
  #next = -1;
  #full = false;
  #bytes = 0;
  #stats = emptyStats();

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#rowBlocks = new RowBlocks(options.source);
    this.#months = new MonthLimit(options.limits.months);
    this.#scanner = new OrderBookScanner(this.#interned);
    this.#ticks = new PriceTickBlock(options.source, this.#interned);
    this.#raw = new RawRecordBlock(options.source, this.#interned, options.bodyDays);
  }

  /** How many records the batch has so far. */
  get records(): number {
    return this.#next - this.#start;
  }

  /** Bytes of the batch's rows, about, as last looked at. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the batch must end: a limit is reached and no body waits for more of its pieces, or it has waited enough. */
  get full(): boolean {
    return this.#full;
  }

  /** Whether the batch had better not end here: a body waits for more of its pieces. */
  get awaitsPieces(): boolean {
    return this.#joiner.waiting > 0;
  }

  /** Takes records from the `from`-th on until the batch is full; answers how far it came. */
  add(batch: RecordBatch, from = 0): number {
    const { bytes, bounds, count, firstOffset } = batch;
    if (this.#start < 0) {
      this.#start = firstOffset + from;
      this.#next = this.#start;
    }
    this.#scanner.use(bytes);
    let i = from;
    for (; i < count && !this.#full; i++) {
      const start = bounds[2 * i] as number;
      const end = bounds[2 * i + 1] as number;
      const fast = this.#scanner.scan(start, end) && this.#scanner.entries <= MAX_SCANNED_ENTRIES;
      const taken = fast
        ? this.#takeScanned(firstOffset + i)
        : this.#takeGeneral(firstOffset + i, bytes.subarray(start, end));
      if (!taken) {
        this.#full = true;
        break;
      }
      if (!fast || i % CHECK_EVERY === 0) this.#checkLimits();
    }
    this.#next = firstOffset + i;
    return i;
  }

  /** The batch; undefined when there were no records. The builder is empty afterwards, for the next one. */
  finish(): BuiltBatch | undefined {
    if (this.records <= 0) return undefined;
    for (const group of this.#joiner.abandonAll()) this.#incomplete(group);
    const blocks: TableBlock[] = [];
    for (const builder of [this.#raw, this.#ticks, ...this.#rowBlocks.all]) {
      const block = builder.finish();
      if (block) blocks.push(block);
    }
    const stats = { ...this.#stats, records: this.records };
    const built = { start: this.#start, end: this.#next - 1, blocks, stats };
    this.#reset();
    return built;
  }

  #takeScanned(offset: number): boolean {
    const scan = this.#scanner;
    if (!this.#months.admit(scan.receivedAt)) return false;
    this.#cursors[scan.sessionId] ??= this.#options.progress.cursor(this.#interned.ids.textOf(scan.sessionId));
    if (!this.#cursors[scan.sessionId]?.advance(scan.sequence, 0)) {
      this.#stats.duplicates += 1;
      return true;
    }
    if (this.#joiner.waiting > 0) this.#abandonPieces(this.#interned.ids.textOf(scan.sessionId), scan.sequence, 0);
    this.#raw.add(offset, scan);
    for (let entry = 0; entry < scan.entries; entry++) this.#ticks.addScanned(offset, entry, scan);
    if (scan.receivedAt > this.#stats.lastReceivedAt) this.#stats.lastReceivedAt = scan.receivedAt;
    return true;
  }

  #takeGeneral(offset: number, value: Buffer): boolean {
    const envelope = readEnvelope(value, this.#options.source.topic);
    if (!envelope.ok) {
      this.#takeBroken(offset, envelope, value);
      return true;
    }
    const { record } = envelope;
    if (!this.#months.admit(record.receivedAt)) return false;
    const piece = record.piece?.i ?? 0;
    if (!this.#options.progress.cursor(record.sessionId).advance(record.sequence, piece)) {
      this.#stats.duplicates += 1;
      return true;
    }
    this.#abandonPieces(record.sessionId, record.sequence, piece);
    this.#stats.lastReceivedAt = Math.max(this.#stats.lastReceivedAt, record.receivedAt);
    const output = new RecordOutput(this.#options.privacy.mayStoreBodyOf(record.kind));
    this.#storeRaw(this.#transform({ offset, envelope, value }, output), output.deadLetters.length > 0);
    this.#append(offset, envelope, output);
    return true;
  }

  /** Answers the records of which the output now tells everything: of a body in pieces all, with its last one. */
  #transform(read: ReadRecord, output: RecordOutput): readonly ReadRecord[] {
    const { envelope, value } = read;
    const { record } = envelope;
    const { privacy } = this.#options;
    const bodyText = () => textOfBody(envelope, value);
    if (envelope.bodyFault) {
      output.dead(envelope.bodyFault, bodyText());
    } else if (!record.piece) {
      transformRecord({ record, bodyText, names: envelope.members.get('body')?.names, privacy }, output);
    } else {
      const joined = this.#joiner.add(read);
      if (joined.type === 'waiting') return [];
      if (joined.type === 'complete') {
        const first = joined.pieces[0]?.envelope.record ?? record;
        transformRecord({ record: first, bodyText: () => joined.text, joined: true, privacy }, output);
        return joined.pieces;
      }
      output.dead(joined.fault, String(record.body));
    }
    return [read];
  }

  /** @param hasDeadLetter whether the records have a dead letter */
  #storeRaw(records: readonly ReadRecord[], hasDeadLetter: boolean): void {
    for (const read of records) this.#raw.add(read.offset, this.#rawEnvelope(read, hasDeadLetter));
  }

  #rawEnvelope({ envelope, value }: ReadRecord, hasDeadLetter: boolean) {
    const { record, members } = envelope;
    const { ids } = this.#interned;
    const request = members.get('req') ?? NOTHING;
    if (record.kind === 'order-book.frame') this.#scanner.learnRequest(value.subarray(request.start, request.end));
    // What is not JSON was wrapped into a JSON string: kept is what was wrapped. A piece stays the JSON string that it
    // is, for it may end in the middle of a character.
    const wrapped = record.encoding !== undefined && record.piece === undefined;
    const bodySource = wrapped ? Buffer.from(String(record.body), 'utf8') : value;
    const body = wrapped ? { start: 0, end: bodySource.length } : (members.get('body') ?? NOTHING);
    return {
      receivedAt: record.receivedAt,
      sessionId: ids.intern(record.sessionId),
      sequence: record.sequence,
      kind: ids.intern(record.kind),
      encoding: ids.intern(record.encoding ?? 'json'),
      piece: record.piece?.i ?? 0,
      pieces: record.piece?.of ?? 1,
      requestSource: value,
      requestStart: request.start,
      requestEnd: request.end,
      bodySource,
      bodyStart: body.start,
      bodyEnd: body.end,
      withheld: !this.#options.privacy.mayStoreBodyOf(record.kind),
      hasDeadLetter,
    };
  }

  #append(offset: number, envelope: Envelope, output: RecordOutput): void {
    for (const [index, tick] of output.priceTicks.entries()) this.#ticks.append(offset, index, tick);
    for (const [table, rows] of output.tables) {
      const block = this.#rowBlocks.of(table);
      for (const [index, row] of rows.entries()) block.append(offset, index, row as never);
    }
    const { kind, sessionId, sequence: n, receivedAt } = envelope.record;
    for (const [index, letter] of output.deadLetters.entries()) {
      this.#rowBlocks.of(deadLetters).append(offset, index, { receivedAt, kind, sessionId, sequence: n, ...letter });
    }
    this.#stats.deadLetters += output.deadLetters.length;
    this.#stats.extraFields += output.extraFields;
    this.#stats.exchangeErrors += output.exchangeErrors;
  }

  #takeBroken(offset: number, envelope: BrokenEnvelope, value: Buffer): void {
    const { receivedAt, kind, sessionId, sequence } = envelope;
    this.#addDeadLetter(
      offset,
      { receivedAt, kind, sessionId, sequence },
      envelope,
      value.toString('utf8', 0, MAX_BROKEN_BYTES),
      value.length,
    );
  }

  #abandonPieces(sessionId: string, sequence: number, piece: number): void {
    const group = this.#joiner.abandon(sessionId, sequence, piece);
    if (group) this.#incomplete(group);
  }

  #incomplete(group: Incomplete): void {
    const [first = group.last] = group.pieces;
    const { receivedAt, kind, sessionId, sequence } = first.envelope.record;
    this.#storeRaw(group.pieces, true);
    this.#addDeadLetter(
      group.last.offset,
      { receivedAt, kind, sessionId, sequence },
      group.fault,
      group.text,
      group.text.length,
    );
  }

  /** Adds the one dead letter of a record that becomes nothing else. */
  #addDeadLetter(
    offset: number,
    from: { receivedAt: number | null; kind: string; sessionId: string; sequence: number | null },
    fault: ValidationIssue,
    payload: string,
    payloadLength: number,
  ): void {
    const output = new RecordOutput(this.#options.privacy.mayStoreBodyOf(from.kind));
    output.dead(fault, payload);
    for (const letter of output.deadLetters) {
      this.#rowBlocks.of(deadLetters).append(offset, 0, { ...from, ...letter, payloadLength });
    }
    this.#stats.deadLetters += 1;
  }

  #checkLimits(): void {
    const { limits } = this.#options;
    let rows = Math.max(this.#raw.rows, this.#ticks.rows);
    let bytes = this.#raw.bytes + this.#ticks.bytes + this.#joiner.length;
    for (const block of this.#rowBlocks.all) {
      rows = Math.max(rows, block.rows);
      bytes += block.bytes;
    }
    this.#bytes = bytes;
    this.#full = this.awaitsPieces
      ? rows >= limits.rows * WAIT_FACTOR || bytes >= limits.bytesWithPieces
      : rows >= limits.rows || bytes >= limits.bytes;
  }

  #reset(): void {
    this.#start = -1;
    this.#next = -1;
    this.#full = false;
    this.#bytes = 0;
    this.#months.clear();
    this.#stats = emptyStats();
    if (!this.#interned.full) return;
    const { source, bodyDays } = this.#options;
    this.#interned = new Interned();
    this.#scanner = new OrderBookScanner(this.#interned);
    this.#ticks = new PriceTickBlock(source, this.#interned);
    this.#raw = new RawRecordBlock(source, this.#interned, bodyDays);
    this.#cursors = [];
  }
}

/** How much of an unreadable record is decoded for its dead letter, bytes. */
const MAX_BROKEN_BYTES = 16_384;

const NOTHING = { start: 0, end: 0 };

function emptyStats() {
  return { duplicates: 0, deadLetters: 0, extraFields: 0, exchangeErrors: 0, lastReceivedAt: 0 };
}

/** A record's body as it was received. */
function textOfBody({ record, members }: Envelope, value: Buffer): string {
  if (record.encoding !== undefined) return String(record.body);
  const { start, end } = members.get('body') ?? NOTHING;
  return value.toString('utf8', start, end);
}
