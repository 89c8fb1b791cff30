/** Format names of `--format`, which are also the endings of the names of files that are not of one market. */
export const EXPORT_FORMATS = ['parquet', 'csv', 'jsonl', 'tardis-csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const CLICKHOUSE_FORMATS: Readonly<Record<ExportFormat, string>> = {
  // `parquetFile` makes Parquet of it.
  parquet: 'ArrowStream',
  csv: 'CSVWithNames',
  jsonl: 'JSONEachRow',
  'tardis-csv': 'CustomSeparated',
};

/** How many rows are together in memory. */
export interface RowCounts {
  /** Rows per row group of Parquet. */
  readonly rowGroup: number;
  /** Rows per block in which ClickHouse sends them; it becomes a record batch. */
  readonly block: number;
}

export const ROWS: RowCounts = { rowGroup: 131_072, block: 8192 };
/** A few copies of a block are in memory, and a payload may have megabytes. */
const PAYLOAD_ROWS: RowCounts = { rowGroup: 16_384, block: 64 };

export const rowCountsOf = ({ payloads }: { readonly payloads?: boolean }): RowCounts =>
  payloads ? PAYLOAD_ROWS : ROWS;

/**
 * The FORMAT and SETTINGS clauses of a file. All settings that change bytes are pinned: the same rows give the same bytes
 * with the same versions of ClickHouse and of the Parquet writer. Pages of Parquet end at the end of a block.
 */
export function formatClause(format: ExportFormat, rows: RowCounts = ROWS): string {
  const settings = {
    max_threads: 1,
    max_block_size: rows.block,
    // Sorted blocks have max_block_size rows; those read in the order of the table have varying numbers.
    optimize_read_in_order: 0,
    max_bytes_before_external_sort: 536_870_912,
    max_query_size: 67_108_864,
    output_format_arrow_compression_method: "'none'",
    output_format_arrow_string_as_string: 1,
    output_format_arrow_low_cardinality_as_dictionary: 0,
    output_format_json_quote_64bit_integers: 0,
    output_format_json_quote_decimals: 1,
    format_csv_null_representation: "''",
    format_custom_escaping_rule: "'Raw'",
    format_custom_field_delimiter: "','",
    date_time_output_format: "'iso'",
  };
  const list = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `FORMAT ${CLICKHOUSE_FORMATS[format]} SETTINGS ${list.join(', ')}`;
}
