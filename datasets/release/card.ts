import { yaml } from './citation.js';
import type { Manifest } from './manifest.js';

const percent = (share: number): string => `${Number((100 * share).toFixed(4))} %`;

const names = (tables: readonly string[]): string => tables.map((table) => `\`${table}\``).join(', ');

const cell = (value: string): string => value.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Whether Hugging Face's `datasets` cannot read a table: it has no type for maps. */
const hasMap = ({ columns }: Manifest['tables'][number]): boolean => columns.some(({ type }) => type.includes('Map('));

/** README.md: the card of the dataset, with the front matter that Hugging Face reads. */
export function card(manifest: Manifest): string {
  const { name, version, title, license, tables, files } = manifest;
  const written = tables.filter((table) => files.some((file) => file.table === table.name));
  const front = [
    '---',
    ...(license === null ? ['license: unknown'] : ['license: other', `license_name: ${yaml(license)}`]),
    `pretty_name: ${yaml(title ?? name)}`,
    'configs:',
    ...written
      .filter((table) => !hasMap(table))
      .flatMap((table) => [`  - config_name: ${table.name}`, `    data_files: ${table.name}/*.parquet`]),
    '---',
  ];
  return [
    ...front,
    '',
    `# ${title ?? name} ${version}`,
    '',
    ...heading(manifest),
    ...changes(manifest),
    ...coverage(manifest),
    ...dictionary(manifest),
    '',
  ].join('\n');
}

function heading(manifest: Manifest): string[] {
  const { days, unfinished_days, tables, files, license, creator, source_url, software, simulated, include_private } =
    manifest;
  const { not_rebuildable: taken = [] } = manifest;
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const maps = tables.filter((table) => table.rows > 0 && hasMap(table)).map((table) => table.name);
  return [
    ...(simulated ? ['**This is data of a simulated exchange, not of a real one.**', ''] : []),
    ...(include_private ? ['**It has records of accounts, which are private.**', ''] : []),
    `${rows.toLocaleString('en-US')} rows in ${files.length} Parquet files, one per table and UTC day, ` +
      (days.length === 0 ? 'without a day.' : `from ${days[0]} to ${days.at(-1)}.`),
    ...(unfinished_days.length === 0 ? [] : ['', `Not finished when it was made: ${unfinished_days.join(', ')}.`]),
    '',
    `- Licence: ${license ?? 'not stated'}`,
    `- Creator: ${creator ?? 'not stated'}`,
    `- Source: ${source_url ?? 'not stated'}`,
    `- Made by ${software.name} ${software.version}${software.commit === null ? '' : ` (commit ${software.commit})`}`,
    `- SHA-256 of the manifest: \`${manifest.manifest_sha256}\``,
    '',
    'Check it with `sha256sum -c SHA256SUMS`, or with `chancery dataset verify`, which also reads the rows.',
    '',
    ...(taken.length === 0
      ? []
      : [`Their raw records are not in it, so \`chancery dataset rebuild\` cannot check them: ${names(taken)}.`, '']),
    ...(maps.length === 0
      ? []
      : [`Not a configuration of \`datasets\`, which reads no maps: ${names(maps)}. Other readers have them.`, '']),
  ];
}

function changes({ changes: found }: Manifest): string[] {
  if (!found) return [];
  const { since, added, removed, changed } = found;
  const kinds = { Added: added, Removed: removed, Changed: changed };
  const some = Object.entries(kinds).filter(([, paths]) => paths.length > 0);
  return [
    `## Changes since ${since.version}`,
    '',
    ...(some.length === 0 ? ['None: every file has the same rows.'] : []),
    ...some.map(([kind, paths]) => `- ${kind}: ${paths.map((path) => `\`${path}\``).join(', ')}`),
    '',
  ];
}

function coverage({ coverage: totals, tables, empty, feed_loss_estimate: loss }: Manifest): string[] {
  if (!tables.some(({ name }) => name === 'coverage'))
    return ['## Known gaps', '', 'The table `coverage` is not part of it.', ''];
  return [
    '## Known gaps',
    '',
    'The table `coverage` has one row per table, event and range while the event was open: `observed`, `backfilled` (fetched',
    'later from the history of the exchange), `missing` (with its cause) or `unknown`. A period without rows that was observed',
    'was quiet; a missing one may not have been. The totals of all events:',
    '',
    '| table | state | seconds |',
    '| --- | --- | ---: |',
    ...totals.map(({ table, state, seconds }) => `| ${table} | ${state} | ${seconds} |`),
    '',
    ...empty.flatMap(({ table, day, markets }) => [
      `${markets.length} markets were observed throughout ${day} and have no rows in ${table}: they were quiet (\`empty\` of the manifest).`,
      '',
    ]),
    ...loss.flatMap(({ stream, samples, lost_samples, rate, lower, upper }) => [
      `Of ${samples} sampled changes of ${stream}, ${lost_samples} were not received: about ${percent(rate)} of all changes ` +
        `(${percent(lower)} to ${percent(upper)}) were lost and are in no gap.`,
      '',
    ]),
  ];
}

function dictionary({ tables, files }: Manifest): string[] {
  const written = tables.filter((table) => files.some((file) => file.table === table.name));
  return [
    '## Tables and columns',
    '',
    'Times are UTC. `received_at` is the clock of the recorder, `occurred_at` and `executed_at` are that of the exchange; the two',
    'are never mixed. NULL is not 0: a bid or ask that is NULL means that this side of the book was empty. A book may be',
    'crossed. Times of chances are whole seconds. The files of a table are sorted by the columns that its line names.',
    ...written.flatMap(({ name, rows, sort_order, columns }) => [
      '',
      `### ${name}`,
      '',
      `${rows.toLocaleString('en-US')} rows, sorted by ${sort_order.map((column) => `\`${column}\``).join(', ')}.`,
      '',
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...columns.map(({ name: column, type, comment = '' }) => `| \`${column}\` | ${cell(type)} | ${cell(comment)} |`),
    ]),
  ];
}
