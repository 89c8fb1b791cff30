import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/**
 * A registry that has one package, published as npm's registry publishes it: `_hasShrinkwrap` tells npm to install the
 * versions of its npm-shrinkwrap.json. Every other request is redirected to the registry that npm is configured with.
 * @param tarball path of what `npm pack` made
 * @returns its URL, and how to stop it
 */
export async function startRegistry(manifest: Manifest, tarball: string): Promise<{ url: string; stop(): void }> {
  const bytes = readFileSync(tarball);
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '');
  const server = createServer((request, response) => {
    if (request.url === `/${manifest.name}`) response.end(JSON.stringify(packument()));
    else if (request.url === '/package.tgz') response.end(bytes);
    else response.writeHead(307, { location: `${upstream}${request.url}` }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const packument = () => ({
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: {
      [manifest.version]: {
        ...manifest,
        _hasShrinkwrap: true,
        dist: {
          tarball: `${url}/package.tgz`,
          integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
        },
      },
    },
  });
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, stop };
}
