import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, sha256Hex, UsageError } from '../core/index.js';

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const FILES = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'stream-worker.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

export type PageFileName = keyof typeof FILES;

/** The folder that `packaging/build-page.mjs` writes. */
const pageFolder = (): string => join(packageRoot(), 'dist/viewer/page');

/** Reads the built page. @throws UsageError when it was not built */
export function readPage(folder: string = pageFolder()): ReadonlyMap<string, PageFile> {
  const read = Object.entries(FILES).map(([name, type]): [string, PageFile] => {
    try {
      const body = readFileSync(join(folder, name));
      return [name, { type, body, etag: `"${sha256Hex(body.toString('latin1')).slice(0, 16)}"` }];
    } catch (error) {
      throw new UsageError(`the page of the viewer is not in ${folder}; \`npm run build\` makes it`, { cause: error });
    }
  });
  return new Map(read);
}
