import { logTable, type TableBlock } from '../../warehouse/index.js';
import { BytesColumn, ConstantU32Column, U16Column, U32Column, WideColumn } from '../native/columns.js';
import type { Interned } from '../native/interned.js';
import { ConstantKeyColumn, KeyColumn } from '../native/key-column.js';
import { NativeBlock } from '../native/native-block.js';
import { stringEntry } from '../native/native-body.js';
import { lowCardinality, micros } from './column-types.js';
import type { SourcePartition } from './row-table.js';

const TEXT = lowCardinality.type;
const EXPIRY = "DateTime('UTC')";

export const rawRecords = logTable({
  name: 'raw_records',
  severalTopics: true,
  columns: [
    ['received_at', micros.type],
    ['session_id', TEXT],
    ['sequence', 'UInt64'],
    ['kind', TEXT],
    ['encoding', TEXT],
    ['piece', 'UInt16'],
    ['pieces', 'UInt16'],
    ['body_bytes', 'UInt32'],
    ['body_expires_at', EXPIRY],
    ['request', 'String'],
    ['body', 'String'],
  ],
});

/** The fields of a record that `raw_records` stores. Texts are numbers of the partition's ID table. */
export interface RawEnvelope {
  /** Unix microseconds. */
  readonly receivedAt: number;
  readonly sessionId: number;
  readonly sequence: number;
  readonly kind: number;
  /** Number of `json`, `text` or `base64`. */
  readonly encoding: number;
  readonly piece: number;
  /** Number of pieces of the body; 1 when it is not split. */
  readonly pieces: number;
  /** `requestSource[requestStart .. requestEnd)` is the request as JSON text. */
  readonly requestSource: Uint8Array;
  readonly requestStart: number;
  readonly requestEnd: number;
  /** `bodySource[bodyStart .. bodyEnd)` is the body as `encoding` says. */
  readonly bodySource: Uint8Array;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  /** Whether the body must not be stored. */
  readonly withheld?: boolean;
  /** Whether request and body never expire: the record has a dead letter with a payload, which may be truncated. */
  readonly keepBody?: boolean;
}

/** Maximum bytes of a row without request and body. */
const BYTES_PER_ROW = 76;

const DAY = 86_400;
/** The last second of DateTime. */
const LAST_DATE_TIME = 0xffff_ffff;

/** Raw records as a Native block. */
export class RawRecordBlock {
  readonly #block: NativeBlock;
  readonly #offset = new WideColumn('UInt64');
  readonly #receivedAt = new WideColumn(micros.type);
  readonly #sessionId: KeyColumn;
  readonly #sequence = new WideColumn('UInt64');
  readonly #kind: KeyColumn;
  readonly #encoding: KeyColumn;
  readonly #piece = new U16Column();
  readonly #pieces = new U16Column();
  readonly #bodyBytes = new U32Column('UInt32');
  readonly #expiresAt = new U32Column(EXPIRY);
  readonly #request = new BytesColumn();
  readonly #body = new BytesColumn();

  /** @param bodyDays retention of requests and bodies that expire, days; 0 stores none */
  constructor(
    source: SourcePartition,
    interned: Interned,
    private readonly bodyDays: number,
  ) {
    const { texts } = interned;
    const constant = (value: string) => new ConstantKeyColumn(TEXT, texts.reserved, stringEntry(Buffer.from(value)));
    this.#sessionId = new KeyColumn(TEXT, texts);
    this.#kind = new KeyColumn(TEXT, texts);
    this.#encoding = new KeyColumn(TEXT, texts);
    this.#block = new NativeBlock(rawRecords, [
      constant(source.topic),
      constant(source.log),
      new ConstantU32Column(source.partition),
      this.#offset,
      new ConstantU32Column(0),
      this.#receivedAt,
      this.#sessionId,
      this.#sequence,
      this.#kind,
      this.#encoding,
      this.#piece,
      this.#pieces,
      this.#bodyBytes,
      this.#expiresAt,
      this.#request,
      this.#body,
    ]);
  }

  get rows(): number {
    return this.#block.rows;
  }

  get bytes(): number {
    return this.#block.rows * BYTES_PER_ROW + this.#request.bytes + this.#body.bytes;
  }

  add(offset: number, record: RawEnvelope): void {
    const row = this.#block.nextRow();
    this.#offset.set(row, offset);
    this.#receivedAt.set(row, record.receivedAt);
    this.#sessionId.set(row, record.sessionId);
    this.#sequence.set(row, record.sequence);
    this.#kind.set(row, record.kind);
    this.#encoding.set(row, record.encoding);
    this.#piece.set(row, record.piece);
    this.#pieces.set(row, record.pieces);
    this.#bodyBytes.set(row, record.bodyEnd - record.bodyStart);
    const forever = record.keepBody === true && record.withheld !== true;
    const expiry = forever ? LAST_DATE_TIME : record.receivedAt / 1e6 + this.bodyDays * DAY;
    this.#expiresAt.set(row, Math.min(expiry, LAST_DATE_TIME));
    if (forever || this.bodyDays > 0) {
      this.#request.push(record.requestSource, record.requestStart, record.requestEnd);
      if (record.withheld) this.#body.pushEmpty();
      else this.#body.push(record.bodySource, record.bodyStart, record.bodyEnd);
    } else {
      this.#request.pushEmpty();
      this.#body.pushEmpty();
    }
  }

  finish(): TableBlock | null {
    return this.#block.finish();
  }
}
