import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

const STORAGE = ['core', 'client', 'bus', 'warehouse'];

/** What the code of each folder may import of others, each through its `index.ts`. */
export const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  client: ['core'],
  bus: ['core'],
  warehouse: ['core'],
  collectors: ['core', 'client', 'bus'],
  transforms: STORAGE,
  datasets: [...STORAGE, 'transforms'],
  viewer: STORAGE,
  exchange: ['core', 'client/wire'],
  bots: ['core', 'client', 'client/trading'],
  certify: ['core', 'bus'],
  cli: [...STORAGE, 'collectors', 'transforms', 'datasets', 'viewer', 'exchange', 'bots', 'certify'],
};

/** They may import everything, and no other folder imports them. */
export const UNRESTRICTED = ['bench', 'test'];

export const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');

/**
 * The files that a file imports, re-exports or loads with `import()`, types included.
 * @param file path from the root of the repository
 * @param text its TypeScript
 * @returns paths from the root of the repository; packages and Node's modules are left out
 */
export function importsOf(file: string, text: string): string[] {
  const { module } = parseSync(file, text);
  const reExported = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest }) => moduleRequest ?? []),
  );
  const imported = [...module.staticImports.map(({ moduleRequest }) => moduleRequest), ...reExported];
  const loaded = module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1));
  return [...imported.map(({ value }) => value), ...loaded]
    .filter((value) => value.startsWith('.'))
    .map((value) => posix.join(posix.dirname(file), value).replace(/\.js$/, '.ts'));
}

/** Why a file must not import another one of the repository; undefined when it may. */
export function refusal(file: string, target: string): string | undefined {
  const from = folderOf(file);
  const to = folderOf(target);
  if (from === 'client' && !file.startsWith('client/trading/') && target.startsWith('client/trading/')) {
    return 'the reading half of client/ must not know the trading half: its importer could trade';
  }
  if (from === to || from === '' || UNRESTRICTED.includes(from)) return undefined;
  const allowed = ALLOWED[from] ?? [];
  if (allowed.some((folder) => target === `${folder}/index.ts`)) return undefined;
  const may =
    allowed.length === 0 ? 'no other folder' : `only ${allowed.map((folder) => `${folder}/index.ts`).join(', ')}`;
  return `${from}/ may import ${may}`;
}

/** A chain of files of which each imports the next one and the last the first; undefined when there is none. */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const state = new Map<string, 'on the path' | 'done'>();
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (state.get(file) === 'done') return undefined;
    if (state.get(file) === 'on the path') return [...path.slice(path.indexOf(file)), file];
    state.set(file, 'on the path');
    for (const target of graph.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle) return cycle;
    }
    state.set(file, 'done');
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}
