import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IntegrityError, makeFolder, removeDrafts, syncFolder, writeFileAtomic } from '../core/index.js';
import type { ExportedTable, MarketLines } from './exported-table.js';
import { formatClause, rowCountsOf } from './formats.js';
import { gzipped, LineGroups } from './market-files.js';
import { parquetFile } from './parquet-file.js';
import type { Plan, PlannedFile } from './plan.js';
import type { ExportRequest } from './request.js';
import type { ExportSource } from './source.js';
import { fileQuery, linesQuery, type RowRange } from './statement.js';
import type { TableColumns } from './table-columns.js';
import { tablesOf } from './tables.js';
import { hmacBlocks } from './user-key.js';

interface WriterOptions {
  readonly source: ExportSource;
  readonly folder: string;
  readonly request: ExportRequest;
  readonly columns: TableColumns;
  readonly userKey: Buffer;
}

interface WrittenFile {
  readonly path: string;
  readonly rows: number;
}

/** Files of the markets of a day; see `write`. */
interface LineFiles {
  readonly files: readonly PlannedFile[];
  readonly mustFit: boolean;
  readonly onFile: (file: WrittenFile) => void;
}

/** Files that one query fills: a file of its own, or those of all markets of a day. */
export function queriesOf(files: readonly PlannedFile[]): PlannedFile[][] {
  const queries = new Map<string, PlannedFile[]>();
  for (const file of files) {
    const key = file.symbol === undefined ? file.path : `${file.table}/${file.day}`;
    const query = queries.get(key);
    if (query) query.push(file);
    else queries.set(key, [file]);
  }
  return [...queries.values()];
}

/** Writes files, each atomically. */
export class FileWriter {
  readonly #tables: ReadonlyMap<string, ExportedTable>;

  constructor(
    private readonly options: WriterOptions,
    private readonly bounds: Pick<Plan, 'positions' | 'selection'>,
    private readonly signal: AbortSignal,
  ) {
    this.#tables = new Map(tablesOf(options.request).map((table) => [table.name, table]));
    const folders = ['', ...this.#tables.keys()].map((name) => join(options.folder, name));
    for (const folder of folders.filter((path) => existsSync(path))) removeDrafts(folder);
  }

  /**
   * @param files one of `queriesOf`
   * @param mustFit whether they must have the planned numbers of rows
   * @throws IntegrityError when one has another number
   */
  async write(files: readonly PlannedFile[], mustFit: boolean, onFile: (file: WrittenFile) => void): Promise<void> {
    this.signal.throwIfAborted();
    const [first] = files;
    const table = this.#tables.get(first?.table ?? '');
    if (!first || !table) throw new Error(`the plan has a file of table ${first?.table}, which was not requested`);
    const range = {
      ...this.bounds,
      table,
      request: this.options.request,
      columns: await this.options.columns.of(table),
    };
    if (table.lines) await this.#writeLines(range, table.lines, { files, mustFit, onFile });
    else onFile({ path: first.path, rows: await this.#writeRows(range, first, mustFit) });
  }

  async #writeRows(range: RowRange, file: PlannedFile, mustFit: boolean): Promise<number> {
    const { table, request, columns, positions } = range;
    const rowCounts = rowCountsOf(table);
    const { rowGroup } = rowCounts;
    const { source } = this.options;
    const query = `${fileQuery(range, file.day)} ${formatClause(request.format, rowCounts)}`;
    const params = table.users ? { ...hmacBlocks(this.options.userKey) } : {};
    if (request.format !== 'parquet') {
      const { rows, body } = await source.result(query, params, this.signal);
      if (mustFit) assertRows(file, rows);
      await this.#writeFile(file.path, body);
      return rows;
    }
    let rows = 0;
    const endOffset = Math.max(0, ...positions.map(({ end }) => end));
    const result = await source.stream(query, params, this.signal);
    const content = async function* () {
      yield* parquetFile(result, { columns, rowGroup, endOffset }, (count) => {
        rows += count;
      });
      if (mustFit) assertRows(file, rows);
    };
    await this.#writeFile(file.path, content());
    return rows;
  }

  async #writeLines(range: RowRange, lines: MarketLines, { files, mustFit, onFile }: LineFiles): Promise<void> {
    const { exchangeName = '', format } = range.request;
    const symbols = files.map(({ symbol = '' }) => symbol);
    const query = `${linesQuery(range, lines, files[0]?.day ?? '', symbols)} ${formatClause(format)}`;
    const { body } = await this.options.source.result(query, {}, this.signal);
    const groups = new LineGroups(body);
    const header = Buffer.from(`${['exchange', ...lines.columns].join(',')}\n`);
    for (const file of files) {
      const { path, symbol } = file;
      let rows = 0;
      const content = async function* () {
        yield header;
        yield* groups.take(`${exchangeName},${symbol},`, (count) => {
          rows += count;
        });
        if (mustFit) assertRows(file, rows);
      };
      await this.#writeFile(path, gzipped(content()));
      onFile({ path, rows });
    }
    if (!(await groups.isEmpty())) throw new Error(`a query of ${range.table.name} has lines of a market twice`);
  }

  async #writeFile(path: string, content: AsyncIterable<Buffer>): Promise<void> {
    const { folder } = this.options;
    const target = join(folder, path);
    if (makeFolder(dirname(target), { option: '--out' })) await syncFolder(folder);
    await writeFileAtomic(target, content, true);
  }
}

/** @throws IntegrityError when a file has another number of rows than was planned */
function assertRows({ path, rows: expected }: PlannedFile, found: number): void {
  if (found === expected) return;
  throw new IntegrityError(
    `${path} was to have ${expected} rows, and ClickHouse has ${found} of them now: rows were deleted since the export ` +
      'began; remove the folder and export again',
  );
}
