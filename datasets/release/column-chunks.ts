import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from '@node-rs/crc32';
import type { FileServer } from '../file-server.js';
import { text } from '../sql-text.js';
import type { Damage } from './damage.js';

/** Bytes of a file of `parquetFile` before its first column chunk; each of the others follows the one before it. */
const FIRST_CHUNK = 4;
const BUFFER_BYTES = 262_144;

interface ColumnChunk {
  readonly column: string;
  /** Rows of the file that it is about, counted from 1. */
  readonly firstRow: number;
  readonly lastRow: number;
  /** 8 hexadecimal digits. */
  readonly crc32: string;
}

interface RowGroup {
  readonly rows: number;
  readonly columns: readonly (readonly [path: string, bytes: number])[];
}

/** The CRC-32 of each column chunk of a file, in the order of the file, as the manifest has them. */
export async function columnChunksCrc32(server: FileServer, path: string, signal: AbortSignal): Promise<string> {
  const chunks = await columnChunks(server, path, signal);
  return chunks.map((chunk) => chunk.crc32).join('');
}

/**
 * The column chunks of a file that are not those of the manifest: where its damage is.
 * @param expected of the manifest; undefined in releases of older versions
 * @throws ExportQueryError when the footer of the file cannot be read
 */
export async function chunkDamages(
  server: FileServer,
  path: string,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<Damage[]> {
  if (expected === undefined) return [];
  const chunks = await columnChunks(server, path, signal);
  // With another layout, no chunk is where it was.
  if (chunks.length * 8 !== expected.length) return [];
  return chunks
    .filter((chunk, number) => chunk.crc32 !== expected.slice(number * 8, number * 8 + 8))
    .map(({ column, firstRow, lastRow }) => ({
      ...{ path, column, row: firstRow },
      what: `the bytes of rows ${firstRow} to ${lastRow} are not those that were written`,
    }));
}

async function columnChunks(server: FileServer, path: string, signal: AbortSignal): Promise<ColumnChunk[]> {
  const [footer] = await server.source.rows<{ groups: readonly RowGroup[] }>(
    `SELECT arrayMap(g -> CAST((g.num_rows, arrayMap(c -> (c.path, c.total_compressed_size), g.columns)),
       'Tuple(rows UInt64, columns Array(Tuple(String, UInt64)))'), row_groups) AS groups
     FROM file(${text(`${server.folder}/${path}`)}, ParquetMetadata)`,
    signal,
  );
  const file = await open(join(server.folder, path));
  try {
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    const chunks: ColumnChunk[] = [];
    let at = FIRST_CHUNK;
    let lastRow = 0;
    for (const { rows, columns } of footer?.groups ?? []) {
      const firstRow = lastRow + 1;
      lastRow += rows;
      for (const [name, bytes] of columns) {
        signal.throwIfAborted();
        let sum = 0;
        for (const end = at + bytes; at < end; ) {
          const { bytesRead } = await file.read(buffer, 0, Math.min(BUFFER_BYTES, end - at), at);
          if (bytesRead === 0) break;
          sum = crc32(buffer.subarray(0, bytesRead), sum);
          at += bytesRead;
        }
        const [column = name] = name.split('.');
        chunks.push({ column, firstRow, lastRow, crc32: sum.toString(16).padStart(8, '0') });
      }
    }
    return chunks;
  } finally {
    await file.close();
  }
}
