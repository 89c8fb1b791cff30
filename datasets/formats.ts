/** Format names of `--format`, which are also the endings of the names of files that are not of one market. */
export const EXPORT_FORMATS = ['parquet', 'csv', 'jsonl', 'tardis-csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const CLICKHOUSE_FORMATS: Readonly<Record<ExportFormat, string>> = {
  parquet: 'Parquet',
  csv: 'CSVWithNames',
  jsonl: 'JSONEachRow',
  'tardis-csv': 'CustomSeparated',
};

const ROW_GROUP = 131_072;

/**
 * The FORMAT and SETTINGS clauses of a file. All settings that change bytes are pinned: the same rows give the same bytes
 * on the same ClickHouse. Blocks divide a row group exactly, since ClickHouse ends a group at the end of a block.
 */
export function formatClause(format: ExportFormat, rowGroup = ROW_GROUP): string {
  const settings = {
    max_threads: 1,
    max_block_size: rowGroup / 2,
    // Sorted blocks have max_block_size rows; those read in the order of the table have varying numbers.
    optimize_read_in_order: 0,
    max_bytes_before_external_sort: 536_870_912,
    max_query_size: 67_108_864,
    output_format_compression_level: 3,
    output_format_parquet_use_custom_encoder: 1,
    output_format_parquet_parallel_encoding: 0,
    output_format_parquet_version: "'2.latest'",
    output_format_parquet_compression_method: "'zstd'",
    output_format_parquet_row_group_size: rowGroup,
    output_format_parquet_row_group_size_bytes: 1_073_741_824,
    output_format_parquet_data_page_size: 1_048_576,
    output_format_parquet_batch_size: 1024,
    output_format_parquet_max_dictionary_size: 1_048_576,
    output_format_parquet_string_as_string: 1,
    output_format_parquet_compliant_nested_types: 1,
    output_format_parquet_write_page_index: 1,
    output_format_parquet_write_bloom_filter: 0,
    output_format_parquet_write_checksums: 1,
    output_format_parquet_datetime_as_uint32: 0,
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
