import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/index.js';

/** The container defined by the last stage of the Dockerfile. */
export interface ImageRecipe {
  readonly from: readonly string[];
  readonly user: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders of the build that are in the image, by where they are. */
  readonly copied: readonly { readonly from: string; readonly to: string }[];
  readonly entrypoint: readonly string[];
  readonly healthcheck: readonly string[];
}

/** Reads the Dockerfile: one instruction per line, lines that end with a backslash joined. */
export function readDockerfile(): ImageRecipe {
  const text = readFileSync(join(packageRoot(), 'Dockerfile'), 'utf8');
  const lines = text
    .replace(/^#.*$/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const all = lines.map(
    (line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1).trim()] as const,
  );
  const last = all.slice(all.findLastIndex(([name]) => name === 'FROM'));
  const of = (name: string) => last.filter(([instruction]) => instruction === name).map(([, rest]) => rest);
  const only = (name: string) => {
    const [one, ...more] = of(name);
    if (one === undefined || more.length > 0) throw new Error(`the image has ${of(name).length} ${name}`);
    return one;
  };
  const list = (json: string) => JSON.parse(json.slice(json.indexOf('['))) as string[];
  return {
    from: all.filter(([name]) => name === 'FROM').map(([, rest]) => rest),
    user: only('USER'),
    workdir: only('WORKDIR'),
    env: Object.fromEntries(
      of('ENV').flatMap((rest) => rest.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
    ),
    copied: of('COPY').map((rest) => {
      const [, from = '', to = ''] = /^--from=build (\S+) (\S+)$/.exec(rest) ?? [];
      return { from, to };
    }),
    entrypoint: list(only('ENTRYPOINT')),
    healthcheck: list(only('HEALTHCHECK')),
  };
}
