import { resolve } from 'node:path';
import type { Command } from 'commander';
import { processSignal, type Settings, systemClock, UsageError } from '../../core/index.js';
import { assertEmptyInstance, damageLine, importDataset, verifyDataset } from '../../datasets/index.js';
import { EXIT } from '../errors.js';
import { ProgressView } from '../export/progress.js';
import { clickHouseTarget } from '../service/clickhouse-target.js';
import { claimLayout } from '../service/instance.js';
import { settingsOf } from '../settings.js';

const EXAMPLES = `
Examples:
  chancery import rain --data rain-data

Releases are imported into the embedded ClickHouse only: CLICKHOUSE_URL and CLICKHOUSE_CLUSTER must not be set.
`;

/** `chancery import`: a new instance of the tables of a release. */
export function define(command: Command): void {
  command
    .argument('<DIR>', 'folder of a release; it is verified first')
    .addHelpText('after', EXAMPLES.trimEnd())
    .action((folder: string) => run(settingsOf(command).settings, resolve(folder)));
}

async function run(settings: Settings, folder: string): Promise<void> {
  if (clickHouseTarget(settings).kind !== 'embedded') {
    throw new UsageError(
      'a dataset is imported into the embedded ClickHouse only; remove the server or cluster from the environment ' +
        'and chancery.config.json',
    );
  }
  process.umask(0o077);
  const signal = processSignal();
  const dataFolder = resolve(settings.data);
  assertEmptyInstance(dataFolder);
  const view = new ProgressView(process.stderr, () => systemClock.nowMs());
  const onFile = (done: number, inAll: number) => view.showChecked(done, inAll);
  const unconfined = settings.clickhouseUnconfined;
  const { manifest, damages } = await verifyDataset({ folder, checksumsOnly: false, unconfined, onFile }, signal);
  if (damages.length > 0) {
    process.stdout.write(`${damages.map(damageLine).join('\n')}\n${folder} is damaged: nothing was imported\n`);
    process.exitCode = EXIT.failed;
    return;
  }
  const rows = await importDataset(
    {
      ...{ folder, manifest, dataFolder, unconfined, claimLayout, onFile },
      database: settings.database,
      memoryBytes: settings.clickhouseMemory,
    },
    signal,
  );
  process.stdout.write(`${dataFolder}: ${rows.toLocaleString('en-US')} rows of ${manifest.name}@${manifest.version}\n`);
}
