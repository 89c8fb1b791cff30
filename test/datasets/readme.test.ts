import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../core/index.js';
import type { Manifest } from '../../datasets/release/manifest.js';
import { chancery } from '../cli/command.js';
import { rows, startUp } from '../cli/start-up.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** Arguments of the commands of the README about datasets, in their order. */
const commands = [
  ...readFileSync(join(packageRoot(), 'README.md'), 'utf8').matchAll(/^\$ npx chancery ((?:export|dataset) .+)$/gm),
].map(([, args = '']) => args.split(' '));

it('the commands of the README make a verified dataset of one event from a new instance', async () => {
  expect(commands.map(([name]) => name)).toEqual(['export', 'dataset']);
  const [data, cwd] = [temporaryFolder(), temporaryFolder()];
  // As `npm start` starts it, with a smaller market.
  const up = startUp(data, { args: ['--pace', '4'] });
  await up.line(/^ready in /);
  const event = /--event (\S+)/.exec(commands[0]?.join(' ') ?? '')?.[1] ?? '';
  // Ticks of a new event may be there before the poll that describes its markets.
  await until(async () => {
    const [found] = await rows<{ ticks: number; markets: number }>(
      data,
      `SELECT (SELECT count() FROM price_ticks WHERE event = '${event}') AS ticks,
              (SELECT count() FROM market_observations WHERE event = '${event}') AS markets`,
    );
    const { ticks, markets } = found ?? { ticks: 0, markets: 0 };
    return (ticks > 0 && markets > 0) || `${ticks} ticks and ${markets} observed markets of event ${event}`;
  });
  const said: string[] = [];
  for (const args of commands) {
    const { code, out, err } = await chancery(args, { cwd, env: { CHANCERY_DATA: data } });
    expect(code, err).toBe(0);
    said.push(out);
  }
  expect(said[1]).toMatch(/simulated/);
  expect(said[1]).toMatch(/: verified\n$/);
  const manifest = JSON.parse(readFileSync(join(cwd, 'sample/manifest.json'), 'utf8')) as Manifest;
  expect(manifest).toMatchObject({ simulated: true, query: { events: [event] } });
  expect(manifest.files.find(({ table }) => table === 'price_ticks')).toMatchObject({ unfinished: true });
});
