import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Maximum number of files that each addition may touch. */
const MAX_FILES = {
  'A setting': 1,
  'A command': 2,
  'A view': 1,
  'A panel': 1,
  'A table': 4,
  'A collector event': 3,
  'A REST poll': 12,
  'A stream': 13,
} as const;

interface Example {
  /** Found in the path or in the text of every file that names the example. */
  readonly names: RegExp;
  /** Files that name the example too, but that a new thing does not touch, with the reason. */
  readonly besides?: Readonly<Record<string, string>>;
}

const EXAMPLES: Readonly<Record<keyof typeof MAX_FILES, Example>> = {
  'A setting': {
    names: /\bhistoryDays\b/,
    besides: { 'collectors/polls/chance-history-poll.ts': 'its use' },
  },
  'A command': {
    names: /commands\/init\.ts|'init'|\binit: \{/,
  },
  'A view': { names: /\bcoin_changes\b/ },
  'A panel': { names: /"title": "Chance now"/ },
  'A table': { names: /\bchancePoints\b|chance-points\.|TABLE IF NOT EXISTS \{database\}\.chance_points\b/ },
  'A collector event': {
    names: /'stale'/,
    besides: {
      'collectors/metrics.ts': 'a metric of its own',
    },
  },
  'A REST poll': {
    names:
      /\btagSchema\b|wire\/tag\.|\bdecodeTags\b|popularTags|'popular-tags'|'tag_observations'|reference\.tags|transformTags|tagObservations|TABLE IF NOT EXISTS \{database\}\.tag_observations/,
  },
  'A stream': {
    names:
      /chance-stream\.|ChanceStream|chanceWs|ChanceFeed\b|chance\.frame|transformChanceFrame|chancePoints\b|TABLE IF NOT EXISTS \{database\}\.chance_points\b|'chance_points'/,
    besides: {
      'datasets/resolutions.ts': 'chances decide a resolution',
      'datasets/release/row-rules.ts': 'only chances are backfilled',
      'client/streams/chance-requests.ts': 'requests of history, which no other stream has',
      'client/wire/index.ts': 'exports for the simulated exchange',
      'certify/recorded.ts': 'compares its prices with the ledger of the simulated exchange',
    },
  },
};

/** The product without the simulated exchange and its bots. */
const files = execFileSync(
  'git',
  ['ls-files', '*.ts', '*.sql', 'dashboards/*.json', ':!test', ':!bench', ':!exchange', ':!bots'],
  { encoding: 'utf8' },
)
  .trim()
  .split('\n')
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

const sections = readFileSync('docs/adding.md', 'utf8').split('\n## ').slice(1);
const titleOf = (section: string) => section.split('\n')[0] as keyof typeof MAX_FILES;
const filesOf = (section: string) => [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file);

describe('docs/adding.md', () => {
  it('has a list for each thing, short enough', () => {
    const counts = sections.map((section) => [titleOf(section), filesOf(section).length]);
    expect(Object.fromEntries(counts)).toEqual(MAX_FILES);
  });

  it.each(sections.map((section) => [titleOf(section), filesOf(section)] as const))(
    '%s: lists every file that names the example, and no other',
    (title, listed) => {
      const { names, besides = {} } = EXAMPLES[title];
      const found = files.filter(({ path, text }) => names.test(path) || names.test(text)).map(({ path }) => path);
      expect([...listed, ...Object.keys(besides)].toSorted()).toEqual(found.toSorted());
    },
  );
});
