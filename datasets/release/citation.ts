import type { Manifest } from './manifest.js';

const NOT_STATED = 'not stated';

/** An SPDX identifier, which CITATION.cff wants. */
const SPDX = /^[A-Za-z0-9][A-Za-z0-9.+-]*$/;

/** Text as a YAML string: JSON is YAML. */
export const yaml = (value: string): string => JSON.stringify(value);

/** CITATION.cff, version 1.2.0. */
export function citation({
  name,
  version,
  title,
  creator,
  license,
  source_url,
  made_at,
  manifest_sha256,
}: Manifest): string {
  const lines = [
    'cff-version: 1.2.0',
    'message: "Cite this dataset as below."',
    'type: dataset',
    `title: ${yaml(title ?? name)}`,
    `version: ${yaml(version)}`,
    `date-released: ${made_at.slice(0, 10)}`,
    'authors:',
    `  - name: ${yaml(creator ?? NOT_STATED)}`,
    ...(license !== null && SPDX.test(license) ? [`license: ${license}`] : []),
    ...(source_url === null ? [] : [`url: ${yaml(source_url)}`]),
    'identifiers:',
    '  - type: other',
    `    value: ${yaml(`sha256:${manifest_sha256}`)}`,
    '    description: "SHA-256 of manifest.json"',
  ];
  return `${lines.join('\n')}\n`;
}
