import { UsageError } from '../core/index.js';
import type { ExportedTable } from './exported-table.js';
import type { ExportRequest } from './request.js';
import type { ExportSource } from './source.js';
import type { Column } from './statement.js';

/** The columns of an export's tables. ClickHouse is asked once for each: it plans a whole view to describe it. */
export class TableColumns {
  readonly #known = new Map<string, readonly Column[]>();

  constructor(
    private readonly source: ExportSource,
    private readonly request: ExportRequest,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * The columns that are written, in the order of the table.
   * @throws UsageError when ClickHouse has no such table
   */
  async of(table: ExportedTable): Promise<readonly Column[]> {
    const known = this.#known.get(table.name);
    if (known) return known;
    const columns = await this.#describe(table);
    this.#known.set(table.name, columns);
    return columns;
  }

  async #describe(table: ExportedTable): Promise<Column[]> {
    const described = table.view
      ? `DESCRIBE TABLE (${table.view(this.request, 'true')})`
      : `SELECT name, type, comment FROM system.columns WHERE database = currentDatabase() AND table = '${table.lines?.table ?? table.name}'
         AND default_kind != 'ALIAS' ORDER BY position`;
    const columns = await this.source.rows<Column>(described, this.signal);
    if (columns.length === 0) {
      throw new UsageError(`there is no table ${table.name}; \`chancery migrate\` creates the tables of this version`);
    }
    return columns
      .map(({ name, type, comment = '' }) => ({ name, type, comment }))
      .filter(({ name }) => !table.omitted?.includes(name));
  }
}
