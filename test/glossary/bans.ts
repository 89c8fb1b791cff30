/** A word that docs/glossary.md replaces, where it is banned, and where it means something else. */
export interface Ban {
  readonly word: string;
  readonly where: 'column' | 'name' | 'prose';
  /** The standard term. */
  readonly term: string;
  /** Folders, files, endings of files (`.ts`) and whole names for which the word is allowed. */
  readonly except: readonly string[];
}

/** Of a row of terms: the term, its meaning, and three cells of bans. */
const CELLS = 5;
const COLUMNS = ['column', 'name', 'prose'] as const;
const GROUP = /((?:`[^`]+` ?)+)(?:\(except ([^)]*)\))?/g;
const ENTRY = /`([^`]+)`/g;

/** The bans of the page: rows of its tables of terms. */
export function bans(page: string): Ban[] {
  return page
    .split('\n')
    .filter((line) => /^\| (?!---|term \|)/.test(line) && line.split('|').length === CELLS + 2)
    .flatMap((line) => {
      const [term = '', , ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      return COLUMNS.flatMap((where, i) => bansOfCell(cells[i] ?? '', where, term));
    });
}

/** The words of a cell; "(except …)" is for those right before it. */
function bansOfCell(cell: string, where: Ban['where'], term: string): Ban[] {
  return [...cell.matchAll(GROUP)].flatMap(([, words = '', exceptions = '']) => {
    const except = entries(exceptions);
    return entries(words).map((word) => ({ word, where, term, except }));
  });
}

const entries = (text: string) => [...text.matchAll(ENTRY)].map(([, entry = '']) => entry);
