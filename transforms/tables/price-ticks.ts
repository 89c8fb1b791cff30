import { TOPICS } from '../../core/index.js';
import { logTable, type TableBlock } from '../../warehouse/index.js';
import {
  ConstantU32Column,
  FlagColumn,
  type SelectableColumn,
  U8Column,
  U32Column,
  WideColumn,
} from '../native/columns.js';
import type { Interned } from '../native/interned.js';
import { ConstantKeyColumn, KeyColumn } from '../native/key-column.js';
import { NativeBlock } from '../native/native-block.js';
import { NativeBody, stringEntry } from '../native/native-body.js';
import { bool, lowCardinality, micros, oneOf } from './column-types.js';
import { addEnds, priceEnds } from './price-ends.js';
import type { BlockBuilder, SourcePartition } from './row-table.js';

/** Prices of one market in an order book frame, in YES terms. */
export interface PriceTick {
  /** Unix microseconds; the table stores whole milliseconds. */
  readonly receivedAt: number;
  readonly eventId: string;
  readonly marketId: string;
  /** Price of the last trade. */
  readonly last: number;
  /** Best bid; null when that side is empty. */
  readonly bid: number | null;
  /** Best ask; null when that side is empty. */
  readonly ask: number | null;
  /** PRICES_DATA, which holds every market of the event, or PRICES_DATA_DELTA, which holds those that changed. */
  readonly source: 'snapshot' | 'delta';
  /** Whether it is a delta that equals the previous entry of its market on its connection. */
  readonly repeated: boolean;
}

/** `source` as the column's number. */
export const SNAPSHOT = 1;
export const DELTA = 2;
/** Price number of an empty side. */
export const NO_PRICE = -1;

/** A frame with IDs and prices as numbers of the partition's tables, without repeated entries; entries by index. */
export interface ScannedFrame {
  readonly receivedAt: number;
  readonly event: number;
  readonly market: Int32Array;
  readonly last: Int32Array;
  readonly bid: Int32Array;
  readonly ask: Int32Array;
  /** SNAPSHOT or DELTA. */
  readonly source: number;
}

const ID = lowCardinality.type;
const PRICE = 'LowCardinality(Float64)';
const SIDE = 'LowCardinality(Nullable(Float64))';
const SOURCE = oneOf('snapshot', 'delta').type;

export const priceTicks = logTable({
  name: 'price_ticks',
  exported: { topics: [TOPICS.orderBook], time: ['received_at'], order: ['market', 'received_at'] },
  feedsMaterializedViews: true,
  columns: [
    ['received_at', micros.type],
    ['event', ID],
    ['market', ID],
    ['last', PRICE],
    ['bid', SIDE],
    ['ask', SIDE],
    ['source', SOURCE],
    ['repeated', bool.type],
  ],
});

/** From this number of rows on, the views of price_ticks take longer than another request. */
const MIN_ROWS_OF_SUMMARY = 10_000;

/** Records of a block of price_blocks. */
export const BLOCK_RECORDS = 65_536;

/** Maximum bytes of a row: the fixed columns and the keys. */
const BYTES_PER_ROW = 54;

/** Price ticks as a Native block: IDs and prices are set by number, so that a tick costs a few memory writes. */
export class PriceTickBlock implements BlockBuilder<PriceTick> {
  readonly #block: NativeBlock;
  readonly #interned: Interned;
  readonly #log: ConstantKeyColumn;
  readonly #partition: ConstantU32Column;
  /** The first row of each block of price_blocks. */
  #firstRows: number[] = [];
  /** The offset at which the next one begins. */
  #nextBlock = 0;
  readonly #offset = new WideColumn('UInt64');
  readonly #index = new U32Column('UInt32');
  readonly #receivedAt = new WideColumn(micros.type);
  readonly #event: KeyColumn;
  readonly #market: KeyColumn;
  readonly #last: KeyColumn;
  readonly #bid: KeyColumn;
  readonly #ask: KeyColumn;
  readonly #source = new U8Column(SOURCE);
  readonly #repeated = new FlagColumn(bool.type);

  constructor(source: SourcePartition, interned: Interned) {
    this.#interned = interned;
    const { texts, floats, nullableFloats } = interned;
    this.#event = new KeyColumn(ID, texts);
    this.#market = new KeyColumn(ID, texts);
    this.#last = new KeyColumn(PRICE, floats);
    this.#bid = new KeyColumn(SIDE, nullableFloats);
    this.#ask = new KeyColumn(SIDE, nullableFloats);
    this.#log = new ConstantKeyColumn(ID, texts.reserved, stringEntry(Buffer.from(source.log)));
    this.#partition = new ConstantU32Column(source.partition);
    this.#block = new NativeBlock(priceTicks, [
      this.#log,
      this.#partition,
      this.#offset,
      this.#index,
      this.#receivedAt,
      this.#event,
      this.#market,
      this.#last,
      this.#bid,
      this.#ask,
      this.#source,
      this.#repeated,
    ]);
  }

  get rows(): number {
    return this.#block.rows;
  }

  get bytes(): number {
    return this.#block.rows * BYTES_PER_ROW;
  }

  append(offset: number, index: number, row: PriceTick): void {
    const { ids, prices } = this.#interned;
    const at = this.#startRow(offset, index, row.receivedAt);
    this.#event.set(at, ids.intern(row.eventId));
    this.#market.set(at, ids.intern(row.marketId));
    this.#last.set(at, prices.intern(row.last));
    setSide(this.#bid, at, row.bid === null ? NO_PRICE : prices.intern(row.bid));
    setSide(this.#ask, at, row.ask === null ? NO_PRICE : prices.intern(row.ask));
    this.#source.set(at, row.source === 'snapshot' ? SNAPSHOT : DELTA);
    if (row.repeated) this.#repeated.set(at);
  }

  /** Adds the `entry`-th entry of a scanned frame. */
  addScanned(offset: number, entry: number, frame: ScannedFrame): void {
    const at = this.#startRow(offset, entry, frame.receivedAt);
    this.#event.set(at, frame.event);
    this.#market.set(at, frame.market[entry] as number);
    this.#last.set(at, frame.last[entry] as number);
    setSide(this.#bid, at, frame.bid[entry] as number);
    setSide(this.#ask, at, frame.ask[entry] as number);
    this.#source.set(at, frame.source);
  }

  #startRow(offset: number, index: number, receivedAt: number): number {
    const row = this.#block.nextRow();
    if (offset >= this.#nextBlock) this.#startBlock(offset, row);
    this.#offset.set(row, offset);
    this.#index.set(row, index);
    this.#receivedAt.set(row, receivedAt - (receivedAt % 1000));
    return row;
  }

  #startBlock(offset: number, row: number): void {
    const block = Math.floor(offset / BLOCK_RECORDS);
    this.#nextBlock = (block + 1) * BLOCK_RECORDS;
    this.#firstRows.push(row);
  }

  finish(): TableBlock | null {
    const summary = this.rows < MIN_ROWS_OF_SUMMARY ? undefined : this.#summary();
    this.#firstRows = [];
    this.#nextBlock = 0;
    const block = this.#block.finish();
    return block && summary ? { ...block, summary } : block;
  }

  /** One row per market and block of price_blocks. Rows are in the order of their positions. */
  #summary(): TableBlock {
    const [first, last]: [number[], number[]] = [[], []];
    this.#firstRows.forEach((row, at) => {
      const end = this.#firstRows[at + 1] ?? this.rows;
      addEnds({ row, end, market: this.#market, receivedAt: this.#receivedAt.halves }, first, last);
    });
    const columns: SelectableColumn[] = [
      this.#log,
      this.#partition,
      this.#offset,
      this.#index,
      this.#receivedAt,
      this.#receivedAt,
      this.#event,
      this.#market,
      this.#last,
      this.#bid,
      this.#ask,
    ];
    const body = new NativeBody(columns.length, last.length);
    priceEnds.columns.forEach(({ name }, column) => {
      columns[column]?.writeRows(body, name, name === 'first_received_at' ? first : last);
    });
    return { table: priceEnds, rows: last.length, format: 'Native', body: body.finish() };
  }
}

function setSide(column: KeyColumn, row: number, price: number): void {
  if (price === NO_PRICE) column.setNull(row);
  else column.set(row, price);
}
