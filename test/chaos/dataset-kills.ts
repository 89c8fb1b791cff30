import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../core/index.js';
import { findEmbedded } from '../../warehouse/index.js';
import { type KillReport, killExports, killImports } from '../datasets/kills.js';
import { recordMarkets } from '../datasets/recorded-markets.js';
import { ServiceProcess } from '../support/service-process.js';
import { removeFolder, temporaryFolder } from '../support/temporary-folder.js';

export interface DatasetKills {
  /** Number of kills of exports, and of imports. */
  readonly kills: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** Kills exports and imports of a recorded instance; see `npm run chaos -- --datasets`. */
export async function killDatasets({ kills, seed, say }: DatasetKills): Promise<readonly KillReport[]> {
  const root = temporaryFolder();
  const folder = (name: string) => {
    const path = join(root, name);
    mkdirSync(path);
    return path;
  };
  const dataFolder = folder('data');
  const warehouse = await ServiceProcess.start('warehouse', ['--data', dataFolder, '--clickhouse-port', '0']);
  try {
    const endpoint = await findEmbedded(dataFolder);
    if (!endpoint) throw new Error('no ClickHouse runs');
    await recordMarkets({ dataFolder, endpoint });
    const options = (name: string) => ({ kills, random: new Random(seed, name), folder: folder(name), say });
    const exports = options('export');
    return [
      await killExports(dataFolder, exports),
      await killImports(join(exports.folder, 'reference'), options('import')),
    ];
  } finally {
    await warehouse.stop();
    removeFolder(root);
  }
}

/** Whether every export and import that came to its end has what one without a kill has. */
export const isUnharmed = (reports: readonly KillReport[]): boolean =>
  reports.every(({ expected, found }) => found.length > 0 && found.every((one) => isEqual(one, expected)));

/** Lines about each report. */
export function renderKills(reports: readonly KillReport[], kills: number, seed: number): string {
  return reports
    .map(({ expected, found }, number) => {
      const what = number === 0 ? ['exports', 'files'] : ['imports', 'tables'];
      const different = found.filter((one) => !isEqual(one, expected)).length;
      return `${kills} ${what[0]} killed, ${found.length} complete: ${different} with other ${what[1]} than without a kill (${Object.keys(expected).length} ${what[1]}, seed ${seed})`;
    })
    .join('\n');
}

const isEqual = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
