import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bus } from '../../bus/index.js';
import type { StreamCoverage } from '../../certify/index.js';
import { ScratchFolder, type Settings, systemClock } from '../../core/index.js';
import { committedPositions, ExportSource, exportTables, FileServer, STREAM_OF_TABLE } from '../../datasets/index.js';
import { connectForExport } from '../service/read-only.js';

interface CoverageRow {
  readonly stream: string;
  readonly event: string;
  readonly state: string;
  readonly begins: number;
  readonly ends: number;
  readonly cause: string;
}

/**
 * Where markets of an event were backfilled, one of them stands for the event: its ranges and those that are for all markets together
 * fill the whole time.
 */
const COVERAGE = (path: string) => `
  SELECT
    ${STREAM_OF_TABLE} AS stream, event, state, cause,
    toUnixTimestamp64Micro(begins_at) AS begins, toUnixTimestamp64Micro(ends_at) AS ends
  FROM file('${path}', Parquet)
  WHERE stream != '' AND (market = '' OR (table, event, market) IN
    (SELECT table, event, min(market) FROM file('${path}', Parquet) WHERE market != '' GROUP BY table, event))`;

/** What the coverage files say that an export of the instance writes now. */
export async function releasedCoverage(settings: Settings, bus: Bus, signal: AbortSignal): Promise<StreamCoverage> {
  const scratch = ScratchFolder.make('chancery-coverage-');
  const folder = join(scratch.path, 'export');
  try {
    mkdirSync(folder);
    await exportCoverage(folder, settings, bus, signal);
    const server = await FileServer.start({ folder, unconfined: settings.clickhouseUnconfined }, signal);
    try {
      const rows = await server.source.rows<CoverageRow>(COVERAGE(`${server.folder}/coverage/*.parquet`), signal);
      return {
        observed: rows.filter(({ state }) => state === 'observed'),
        gaps: rows.filter(({ state }) => state !== 'observed'),
      };
    } finally {
      await server.close();
    }
  } finally {
    scratch.remove();
  }
}

async function exportCoverage(folder: string, settings: Settings, bus: Bus, signal: AbortSignal): Promise<void> {
  const connection = await connectForExport(settings, signal);
  try {
    await exportTables(
      {
        ...{ source: new ExportSource(connection.client), database: settings.database, folder },
        request: {
          ...{ format: 'parquet', tables: ['collector_events', 'coverage'], candlePeriods: [] },
          ...{ unfinished: true, finishedAfterHours: 0 },
        },
        positions: await committedPositions(bus, settings.group),
        userKey: randomBytes(32),
        nowMs: systemClock.nowMs(),
      },
      signal,
    );
  } finally {
    await connection.close();
  }
}
