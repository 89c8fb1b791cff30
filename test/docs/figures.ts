import { readFileSync } from 'node:fs';

interface BenchResults {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly results: readonly { readonly name: string; readonly unit: string; readonly median: number }[];
}

const BEGIN = /<!-- figures[^\n]*-->\n/;
const END = '<!-- end of figures -->';

const results = (bench: string): BenchResults => JSON.parse(readFileSync(`bench/results/${bench}.json`, 'utf8'));

function median(bench: string, name: string): string {
  const found = results(bench).results.find((result) => result.name === name);
  if (!found) throw new Error(`bench/results/${bench}.json has no figure "${name}"`);
  return `${found.median.toLocaleString('en-US')} ${found.unit}`;
}

/** The figures of the long run in docs/reliability.md. */
function longRun(): { killed: string; rows: string; missing: string; duplicated: string } {
  const page = readFileSync('docs/reliability.md', 'utf8');
  const [, killed = ''] = /^processes killed +(\d+)$/m.exec(page) ?? [];
  const [, rows = '', missing = '', duplicated = ''] = /^all +(\d+) +\d+ +(\d+) +(\d+)$/m.exec(page) ?? [];
  if (killed === '' || rows === '') throw new Error('docs/reliability.md has no run of the chaos loop');
  return { killed, rows: Number(rows).toLocaleString('en-US'), missing, duplicated };
}

/** README.md with the figures of the scripts' results. */
export function withFigures(readme: string): string {
  const { killed, rows, missing, duplicated } = longRun();
  const { cores, processor, node } = results('transform').settings;
  const oneRun = ['transform', 'live', 'kafka'].filter((bench) => results(bench).settings['runs'] === 1);
  const table = `
| figure | result | script |
| --- | ---: | --- |
| embedded log to ClickHouse, one tick per frame, received payloads not stored | ${median('transform', 'single-entry frames, bodies off')} | \`npm run bench -- transform\` |
| the same, received payloads stored (the default) | ${median('transform', 'single-entry frames, bodies on')} | |
| latency from socket to SQL, p50 and p99 | ${median('live', 'latency from socket to query result, p50')}, ${median('live', 'latency from socket to query result, p99')} | \`npm run bench -- live\` |
| Kafka to ClickHouse, compared with ClickHouse's Kafka engine, one tick per frame | ${median('kafka', "single-entry, fsync: worker / ClickHouse's Kafka engine, all tables")} as fast | \`npm run bench -- kafka\` |
| the same, ten ticks per frame | ${median('kafka', "10-entry, fsync: worker / ClickHouse's Kafka engine, all tables")} as fast | |
| chaos run on Kafka, 15 minutes: ${killed} processes killed, ${rows} rows checked | ${missing} lost, ${duplicated} duplicated | \`npm run chaos -- --bus kafka --minutes 15 --kills 300\` |

Rates are averages over the whole run, from the start until the last row is visible. In the Kafka figures, neither the worker nor the engine stores received payloads. The engine fills \`price_ticks\`, \`raw_records\` and the time columns of \`price_states\`; the worker also fills the other columns of \`price_states\`, and \`price_blocks\`. The figures are medians of repeated runs on ${String(cores)} cores (${String(processor)}, node ${String(node)}); ${oneRun.map((bench) => `\`${bench}\``).join(', ')}${oneRun.length > 0 ? ' and ' : ''}the chaos run ${oneRun.length > 0 ? 'were' : 'was'} run once. [All figures](docs/performance.md), [the chaos run](docs/reliability.md).

`;
  const begin = BEGIN.exec(readme);
  const end = readme.indexOf(END);
  if (!begin || end < 0) throw new Error('README.md has no place for figures');
  return readme.slice(0, begin.index + begin[0].length) + table + readme.slice(end);
}
