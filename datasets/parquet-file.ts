import type { Table } from 'parquet-wasm';
import { arrowBatches } from './arrow-batches.js';
import { ExportQueryError } from './source.js';
import type { Column } from './statement.js';

type Parquet = typeof import('parquet-wasm');

/** The column that is delta encoded: differences between its values take less space than the values or a dictionary of them. */
const DELTA_COLUMN = '_offset';
/**
 * With larger offsets no column is delta encoded: a difference may then have more than 28 bits, and fastparquet (which pandas and
 * Frictionless use) reads such a difference as another number, without an error. In pages of version 2 it cannot read narrower ones
 * either, so the pages have version 1.
 */
const MAX_DELTA_OFFSET = 2 ** 27;

/** Types whose values mostly differ within a row group: a dictionary would be larger than the values. */
const PLAIN_TYPES = /^(Nullable\()?(U?Int64|DateTime64\()/;
/** A complete file ends with these bytes. */
const END = Buffer.from('PAR1');
const INCOMPLETE = 'the Parquet writer stopped before the end of a file; run the command again';

/** What decides on the bytes of a file, together with the rows and the blocks in which they arrive. */
export interface ParquetLayout {
  readonly columns: readonly Column[];
  /** Rows. */
  readonly rowGroup: number;
  /** Above all offsets of the rows. */
  readonly endOffset: number;
}

/**
 * The result of a query in FORMAT ArrowStream as a Parquet file with delta encodings, which ClickHouse's own writer does not have.
 * @param onRows is called with the number of rows of each part
 * @throws ExportQueryError when the query fails
 */
export async function* parquetFile(
  result: AsyncIterable<Buffer>,
  layout: ParquetLayout,
  onRows: (rows: number) => void,
): AsyncGenerator<Buffer> {
  // Five megabytes of WebAssembly, which other commands do not need.
  const parquet = await import('parquet-wasm');
  const streams = arrowBatches(result);
  const { value: first } = await streams.next();
  const table = parquet.Table.fromIPCStream(first ?? Buffer.alloc(0));
  if (table.numBatches === 0) {
    yield bufferOf(parquet.writeParquet(table, propertiesOf(parquet, layout)));
    return;
  }
  let failure: unknown;
  const batches = async function* () {
    try {
      yield* batchesOf(table, onRows);
      for await (const stream of streams) yield* batchesOf(parquet.Table.fromIPCStream(stream), onRows);
    } catch (error) {
      // The writer only says that there was one.
      failure = error;
      throw error;
    }
  };
  let end = Buffer.alloc(0);
  try {
    const batchStream = ReadableStream.from(batches());
    const file = await parquet.transformParquetStream(batchStream, propertiesOf(parquet, layout));
    for await (const bytes of file as ReadableStream<Uint8Array>) {
      end = Buffer.concat([end, bytes.subarray(-END.length)]).subarray(-END.length);
      yield bufferOf(bytes);
    }
  } catch (error) {
    throw failure ?? error;
  }
  if (failure !== undefined || !end.equals(END)) throw failure ?? new ExportQueryError(INCOMPLETE);
}

/** The writer frees each batch. Tables are freed here: the garbage collector does not know how large they are. */
function* batchesOf(table: Table, onRows: (rows: number) => void) {
  const batches = table.recordBatches();
  table.free();
  for (const batch of batches) {
    onRows(batch.numRows);
    yield batch;
  }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function propertiesOf(parquet: Parquet, { columns, rowGroup, endOffset }: ParquetLayout) {
  let builder = new parquet.WriterPropertiesBuilder()
    .setWriterVersion(parquet.WriterVersion.V1)
    .setCompression(parquet.Compression.ZSTD)
    .setMaxRowGroupSize(rowGroup)
    .setStatisticsEnabled(parquet.EnabledStatistics.Page);
  for (const { name } of columns.filter(({ type }) => PLAIN_TYPES.test(type))) {
    const isDelta = name === DELTA_COLUMN && endOffset <= MAX_DELTA_OFFSET;
    builder = builder
      .setColumnDictionaryEnabled(name, false)
      .setColumnEncoding(name, isDelta ? parquet.Encoding.DELTA_BINARY_PACKED : parquet.Encoding.PLAIN);
  }
  return builder.build();
}
