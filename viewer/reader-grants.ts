import { UsageError } from '../core/index.js';
import type { ReaderDatabase } from './database.js';

const HARMLESS = new Set(['SELECT', 'SHOW', 'SHOW DATABASES', 'SHOW TABLES', 'SHOW COLUMNS', 'SHOW DICTIONARIES']);

/**
 * Decides whether SQL of strangers may be run: only as a user that can do nothing but read Chancery's own databases, on a
 * ClickHouse that is restricted to its own files.
 */
export class ReaderGrants {
  #reason: Promise<string | undefined> | undefined;

  /** @param databases that the reader may read */
  constructor(
    private readonly database: ReaderDatabase,
    private readonly databases: readonly string[],
  ) {}

  /** @throws UsageError with the reason why it may not; UnavailableError while ClickHouse does not respond */
  async assertReadOnly(): Promise<void> {
    this.#reason ??= this.#read();
    try {
      const reason = await this.#reason;
      if (reason === undefined) return;
      throw new UsageError(`the viewer draws only Chancery's own dashboards: ${reason}`);
    } catch (error) {
      if (!(error instanceof UsageError)) this.#reason = undefined;
      throw error;
    }
  }

  async #read(): Promise<string | undefined> {
    const unconfined = await this.database.unconfined();
    if (unconfined) return `ClickHouse is not restricted to its own files (${unconfined})`;
    const asked = { sql: 'SHOW GRANTS FINAL', parameters: {} };
    const { data } = await this.database.query(asked, new AbortController().signal);
    const excess = data.map(([line]) => String(line)).find((line) => exceeds(line, this.databases));
    return excess === undefined ? undefined : `the user of the viewer has more than SELECT on them: ${excess}`;
  }
}

/** Whether a line of SHOW GRANTS gives more than reading these databases. */
export function exceeds(line: string, databases: readonly string[]): boolean {
  if (/^REVOKE /.test(line)) return false;
  const [, privileges = '', database = '', table = '', options = ''] =
    /^GRANT (.+) ON (.+)\.(\S+) TO \S+(.*)$/.exec(line) ?? [];
  if (privileges === 'USAGE') return false;
  const names = privileges.replace(/\([^)]*\)/g, '').split(', ');
  // ClickHouse looks up there the queries that a user kills.
  const isProcesses = database === 'system' && table === 'processes';
  const isOwn = isProcesses || databases.includes(database.replaceAll('`', ''));
  return !isOwn || options !== '' || !names.every((name) => HARMLESS.has(name));
}
