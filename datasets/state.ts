import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, UsageError, writeFileAtomic } from '../core/index.js';
import type { Plan } from './plan.js';
import type { LogPosition } from './positions.js';

/** In the folder of an export: what it takes, written before it begins. A killed export resumes from it. */
export const STATE_FILE = 'export-state.json';
const FORMAT_VERSION = 1;

interface ExportState {
  readonly format_version: typeof FORMAT_VERSION;
  /** What was asked for, of which database: the options as JSON. */
  readonly request: unknown;
  /** Null until the tables with replaced rows are written: an export that is killed before begins again. */
  readonly plan: Plan | null;
}

/**
 * The plan of the export that began in a folder; undefined when the folder is empty, does not exist, or has no complete plan.
 * @throws UsageError when the folder has something else, or the export of other options or of another instance
 */
export function readPlan(folder: string, request: unknown, positions: readonly LogPosition[]): Plan | undefined {
  const path = join(folder, STATE_FILE);
  if (!existsSync(path)) {
    if (existsSync(folder) && readdirSync(folder).some((name) => !name.startsWith(STATE_FILE))) {
      throw new UsageError(`${folder} is not empty and has no ${STATE_FILE}; choose another folder with --out`);
    }
    return undefined;
  }
  const state = parse(path);
  if (state.plan === null) return undefined;
  if (JSON.stringify(state.request) !== JSON.stringify(request) || !isContinued(state.plan.positions, positions)) {
    throw new UsageError(
      `${folder} has another export (of other options or another instance); choose another folder with --out`,
    );
  }
  return state.plan;
}

export async function writePlan(folder: string, request: unknown, plan: Plan | null): Promise<void> {
  makeFolder(folder, { option: '--out' });
  const state: ExportState = { format_version: FORMAT_VERSION, request, plan };
  await writeFileAtomic(join(folder, STATE_FILE), `${JSON.stringify(state, undefined, 2)}\n`, true);
}

function parse(path: string): ExportState {
  try {
    const state = JSON.parse(readFileSync(path, 'utf8')) as ExportState;
    if (state.format_version === FORMAT_VERSION) return state;
  } catch {
    // Not JSON: the same error.
  }
  throw new UsageError(`${path} is not the state of an export of this version; choose another folder with --out`);
}

/** Whether the instance has the logs of the plan, and has not lost a part of them. */
function isContinued(planned: readonly LogPosition[], now: readonly LogPosition[]): boolean {
  return planned.every(({ log, partition, end }) =>
    now.some((own) => own.log === log && own.partition === partition && own.end >= end),
  );
}
