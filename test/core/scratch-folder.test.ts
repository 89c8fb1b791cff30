import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { ScratchFolder } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PREFIX = 'chancery-dataset-';

it('removes folders that killed processes have left, and neither those in use nor others', () => {
  const parent = temporaryFolder();
  for (const name of [`${PREFIX}killed`, 'chancery-rebuild-other']) {
    mkdirSync(join(parent, name, 'store'), { recursive: true });
    writeFileSync(join(parent, name, 'owner.lock'), '');
  }
  const used = ScratchFolder.make(PREFIX, parent);
  writeFileSync(join(used.path, 'data'), '');
  const second = ScratchFolder.make(PREFIX, parent);
  const expected = [basename(used.path), basename(second.path), 'chancery-rebuild-other'];
  expect(readdirSync(parent).toSorted()).toEqual(expected.toSorted());
  expect(existsSync(join(used.path, 'data'))).toBe(true);
  used.remove();
  second.remove();
  expect(readdirSync(parent)).toEqual(['chancery-rebuild-other']);
});
