import type { RecordBatch } from '../../bus/index.js';
import type { ValidationIssue } from '../../client/index.js';
import type { RawRecord } from '../../core/index.js';
import type { TableBlock } from '../../warehouse/index.js';
import { repeatedEntries, textIn } from '../kinds/request-fields.js';
import { transformRecord } from '../kinds/transform-record.js';
import { Interned } from '../native/interned.js';
import { type BrokenEnvelope, type Envelope, memberText, readEnvelope } from '../record/envelope.js';
import { OrderBookScanner } from '../record/order-book-scanner.js';
import type { Privacy } from '../record/privacy.js';
import { type DeadLetter, MAX_PAYLOAD, RecordOutput } from '../record/record-output.js';
import { type DeadLetterRow, deadLetters } from '../tables/dead-letters.js';
import { PriceTickBlock } from '../tables/price-ticks.js';
import { RawRecordBlock } from '../tables/raw-records.js';
import { RowBlocks } from '../tables/row-blocks.js';
import type { SourcePartition } from '../tables/row-table.js';
import { MonthLimit } from './month-limit.js';
import { PayloadLimit } from './payload-limit.js';
import { type Incomplete, PieceJoiner, type ReadRecord } from './piece-joiner.js';
import type { SessionCursor, SessionProgress } from './session-progress.js';

export interface BatchOptions {
  readonly source: SourcePartition;
  /** Progress of the partition's sessions before the batch; the builder advances it. */
  readonly progress: SessionProgress;
  /** Retention of requests and bodies in `raw_records` (of records without a dead letter), days; 0 stores none. */
  readonly bodyDays: number;
  /** How usernames are stored. */
  readonly privacy: Privacy;
  /** A batch is full with this many rows in one table, or bytes in total; a record is never split. */
  readonly limits: BuilderLimits;
}

export interface BuilderLimits {
  readonly rows: number;
  readonly bytes: number;
  /** Maximum bytes of a batch that waits for pieces of a body, the pieces included. */
  readonly bytesWithPieces: number;
  /** Maximum number of months of receive time; each is a table partition. */
  readonly months: number;
}

/** Statistics of a batch's records. */
interface BatchStats {
  readonly records: number;
  /** Duplicate records, which were dropped. */
  readonly duplicates: number;
  readonly deadLetters: number;
  /** Dead letters of these without their payload. */
  readonly payloadsOmitted: number;
  readonly extraFields: number;
  readonly exchangeErrors: number;
  /** Latest receive time, Unix microseconds; 0 without one. */
  readonly lastReceivedAt: number;
}

/** All rows that the records of an offset range become. */
export interface BuiltBatch {
  readonly start: number;
  readonly end: number;
  readonly blocks: readonly TableBlock[];
  readonly stats: BatchStats;
}

/** Number of records between checks of the limits on the fast path. */
const CHECK_EVERY = 32;
/** Factor by which a full batch that waits for pieces of a body may exceed its row limit. */
const WAIT_FACTOR = 2;
/** Frames with more entries take the general path, which limits the dead letters of a record. */
const MAX_SCANNED_ENTRIES = 1000;

/**
 * Builds the rows of one partition's batches, record by record. They depend only on the offset range, its records and the
 * progress of the sessions before it: building the same range again gives the same bytes.
 */
export class BatchBuilder {
  readonly #options: BatchOptions;
  readonly #joiner = new PieceJoiner(MAX_PAYLOAD);
  readonly #payloads = new PayloadLimit();
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

  /** Number of records in the batch so far. */
  get records(): number {
    return this.#next - this.#start;
  }

  /** Approximate bytes of the batch's rows, at the last check. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the batch must end: a limit is reached, and no body waits for pieces or the waiting limit is reached too. */
  get full(): boolean {
    return this.#full;
  }

  /** Whether the batch should not end here because a body waits for more of its pieces. */
  get awaitsPieces(): boolean {
    return this.#joiner.waiting > 0;
  }

  /** Size of the pieces that wait: it changes with each piece. */
  get bytesOfPieces(): number {
    return this.#joiner.length;
  }

  /** Adds records from index `from` until the batch is full; returns the index of the first record not added. */
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

  /** Returns the batch; undefined without records. The builder is then empty and ready for the next one. */
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
    const complete = this.#transform({ offset, envelope, value }, output);
    const letters = this.#limited(output);
    this.#storeRaw(complete, letters);
    this.#append(offset, envelope, output, letters);
    return true;
  }

  /** Returns the records that the output now covers completely: for the last piece of a body, all its pieces. */
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

  /** The dead letters of a record as the batch stores them. */
  #limited(output: RecordOutput): DeadLetters {
    const { letters, omitted } = this.#payloads.apply(output.deadLetters);
    this.#stats.deadLetters += letters.length;
    this.#stats.payloadsOmitted += omitted;
    return { letters, keepBody: letters.length > omitted };
  }

  #storeRaw(records: readonly ReadRecord[], { keepBody }: DeadLetters): void {
    for (const read of records) this.#raw.add(read.offset, this.#rawEnvelope(read, keepBody));
  }

  #rawEnvelope({ envelope, value }: ReadRecord, keepBody: boolean) {
    const { record, members } = envelope;
    const { ids } = this.#interned;
    const request = members.get('req') ?? EMPTY_RANGE;
    // The scanner reads no record with repeated entries, and so must not know its request.
    if (record.kind === 'order-book.frame' && !repeatedEntries(record.request)) {
      this.#scanner.learnRequest(value.subarray(request.start, request.end));
    }
    // A body that is not JSON is wrapped in a JSON string: the wrapped text is stored. A piece stays a JSON string, since
    // it may end in the middle of a character.
    const wrapped = record.encoding !== undefined && record.piece === undefined;
    const bodySource = wrapped ? Buffer.from(String(record.body), 'utf8') : value;
    const body = wrapped ? { start: 0, end: bodySource.length } : (members.get('body') ?? EMPTY_RANGE);
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
      keepBody,
    };
  }

  #append(offset: number, envelope: Envelope, output: RecordOutput, { letters }: DeadLetters): void {
    for (const [index, tick] of output.priceTicks.entries()) this.#ticks.append(offset, index, tick);
    for (const [table, rows] of output.tables) {
      const block = this.#rowBlocks.of(table);
      for (const [index, row] of rows.entries()) block.append(offset, index, row as never);
    }
    const from = originOf(envelope.record);
    for (const [index, letter] of letters.entries()) {
      this.#rowBlocks.of(deadLetters).append(offset, index, { ...from, ...letter });
    }
    this.#stats.extraFields += output.extraFields;
    this.#stats.exchangeErrors += output.exchangeErrors;
  }

  #takeBroken(offset: number, envelope: BrokenEnvelope, value: Buffer): void {
    const { receivedAt, kind, sessionId, sequence } = envelope;
    this.#addDeadLetter(
      offset,
      { receivedAt, kind, sessionId, sequence, connectionId: '' },
      envelope,
      value.toString('utf8', 0, MAX_UNREADABLE_BYTES),
      value.length,
    );
  }

  #abandonPieces(sessionId: string, sequence: number, piece: number): void {
    const group = this.#joiner.abandon(sessionId, sequence, piece);
    if (group) this.#incomplete(group);
  }

  #incomplete(group: Incomplete): void {
    const [first = group.last] = group.pieces;
    const letters = this.#addDeadLetter(
      group.last.offset,
      originOf(first.envelope.record),
      group.fault,
      group.text,
      group.textLength,
    );
    this.#storeRaw(group.pieces, letters);
  }

  /** Adds the only dead letter of a record that becomes no rows. */
  #addDeadLetter(
    offset: number,
    from: DeadLetterOrigin,
    fault: ValidationIssue,
    payload: string,
    payloadLength: number,
  ): DeadLetters {
    const output = new RecordOutput(this.#options.privacy.mayStoreBodyOf(from.kind));
    output.dead(fault, payload, payloadLength);
    const limited = this.#limited(output);
    for (const letter of limited.letters) this.#rowBlocks.of(deadLetters).append(offset, 0, { ...from, ...letter });
    return limited;
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
    this.#payloads.clear();
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

/** Maximum bytes of an unreadable record that are decoded for its dead letter. */
const MAX_UNREADABLE_BYTES = 16_384;

const EMPTY_RANGE = { start: 0, end: 0 };

function emptyStats() {
  return { duplicates: 0, deadLetters: 0, payloadsOmitted: 0, extraFields: 0, exchangeErrors: 0, lastReceivedAt: 0 };
}

/** The dead letters of a record. */
interface DeadLetters {
  readonly letters: readonly DeadLetter[];
  /** Whether the record's body never expires: one of them has its payload, which may be truncated. */
  readonly keepBody: boolean;
}

type DeadLetterOrigin = Pick<DeadLetterRow, 'receivedAt' | 'kind' | 'sessionId' | 'sequence' | 'connectionId'>;

/** The columns of a dead letter that come from its record's envelope. */
function originOf({ receivedAt, kind, sessionId, sequence, request }: RawRecord): DeadLetterOrigin {
  return { receivedAt, kind, sessionId, sequence, connectionId: textIn(request, 'connection') ?? '' };
}

/** A record's body as it was received. */
function textOfBody(envelope: Envelope, value: Buffer): string {
  return envelope.record.encoding === undefined ? memberText(envelope, 'body', value) : String(envelope.record.body);
}
