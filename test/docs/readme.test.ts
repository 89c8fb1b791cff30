import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFigures } from './figures.js';

const readme = readFileSync('README.md', 'utf8');

describe('README.md', () => {
  it('has the figures of bench/results and of the chaos run in docs/reliability.md', async () => {
    await expect(withFigures(readme)).toMatchFileSnapshot('../../README.md');
  });

  // Two screens of 900 px, drawn 1012 px wide in GitHub's font sizes, as the picture is 560 px wide.
  it('has at most 63 lines before "More", which are two screens', () => {
    const front = readme.slice(0, readme.indexOf('\n## More'));
    expect(front.split('\n').length).toBeLessThanOrEqual(63);
    expect(front).toContain('<img width="560"');
  });
});

describe('a link between documents', () => {
  const pages = [
    ...readdirSync('.').filter((name) => name.endsWith('.md')),
    ...readdirSync('docs')
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name)),
    'exchange/README.md',
    'sql/README.md',
  ];

  it.each(pages)('of %s leads to a file that exists, and to a heading or an anchor in it', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? page : join(dirname(page), file);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

describe('a reference to a part of the interface', () => {
  it('like “part 6.1” has its anchor in docs/interface.md', () => {
    const known = anchorsOf('docs/interface.md');
    const files = execFileSync('git', ['grep', '-lE', '[Pp]arts? [0-9]', '--', '*.ts', '*.sql', '*.md'], {
      encoding: 'utf8',
    });
    const unknown = files
      .trim()
      .split('\n')
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/\bparts? (\d+(?:\.\d+)?)/gi)]
          .filter(([, part = '']) => !known.has(`part-${part}`))
          .map(([reference]) => `${file}: ${reference}`),
      );
    expect(unknown).toEqual([]);
  });
});

const anchors = new Map<string, Set<string>>();

/** The anchors of a Markdown page, which is read once. */
function anchorsOf(page: string): Set<string> {
  const found = anchors.get(page) ?? findAnchors(page);
  anchors.set(page, found);
  return found;
}

/** A page's own anchors, and those that GitHub generates from headings. */
function findAnchors(page: string): Set<string> {
  const text = readFileSync(page, 'utf8');
  const own = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...own, ...headings]);
}
