import { tryResolveLibchdb } from 'chdb/libchdb';
import { UsageError } from '../../core/index.js';

/** Path of the ClickHouse library that npm installed for this platform. Throws UsageError when there is none. */
export function clickHouseLibrary(): string {
  const found = tryResolveLibchdb();
  if (found) return found.path;
  throw new UsageError(
    `no embedded ClickHouse for ${process.platform}-${process.arch}: the package @chdb/lib-${process.platform}-${process.arch} is not ` +
      'installed (run `npm ci` without --omit=optional; it exists for Linux with glibc and macOS, x64 and arm64), ' +
      'or use a ClickHouse server with --clickhouse-url',
  );
}
