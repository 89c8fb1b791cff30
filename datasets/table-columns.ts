import { UsageError } from '../core/index.js';
import type { ExportedTable } from './exported-table.js';
import type { ExportRequest } from './request.js';
import type { ExportSource } from './source.js';
import type { Column } from './statement.js';

/** A column of a definition, and its comment. */
const DECLARED = /`(\w+)` [^`]+? COMMENT '((?:[^'\\]|\\.)*)'/g;

/** Comments of columns that are written as HMAC-SHA-256. */
const HASHED: Readonly<Record<string, string>> = {
  user_id: 'HMAC-SHA-256 of the user ID, 64 hexadecimal digits; empty when absent',
  username: 'HMAC-SHA-256 of the name of the user, 64 hexadecimal digits; empty or NULL when absent',
};

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
    const comments = await this.#commentsOf(table);
    return columns
      .map(({ name, type, comment = '' }) => ({ name, type, comment: comments.get(name) ?? comment }))
      .filter(({ name }) => !table.omitted?.includes(name));
  }

  /** By name of the column, where its written values are not what ClickHouse says about the column. */
  async #commentsOf({ name, view, lines, users = [], comments = {} }: ExportedTable): Promise<Map<string, string>> {
    const ofUsers = users.map((column): [string, string] => [column, HASHED[column] ?? '']);
    const declared = view && !lines ? await this.#declaredComments(name) : [];
    return new Map([...declared, ...ofUsers, ...Object.entries(comments)]);
  }

  /** Comments in the definition of a view: a query of it has none, and system.columns has none of a parameterized view. */
  async #declaredComments(view: string): Promise<[string, string][]> {
    const query = `SELECT create_table_query AS sql FROM system.tables WHERE database = currentDatabase() AND name = '${view}'`;
    const [{ sql } = { sql: '' }] = await this.source.rows<{ sql: string }>(query, this.signal);
    return [...sql.matchAll(DECLARED)].map(([, name = '', comment = '']) => [name, comment.replaceAll(/\\(.)/g, '$1')]);
  }
}
