import type { Column } from '../statement.js';
import type { Manifest } from './manifest.js';

/** The type of a field in a Frictionless table schema. */
function fieldType(type: string): string {
  const inner = type.replace(/^Nullable\((.*)\)$/, '$1');
  if (/^U?Int/.test(inner)) return 'integer';
  if (/^(Float|Decimal)/.test(inner)) return 'number';
  if (inner.startsWith('DateTime')) return 'datetime';
  if (inner.startsWith('Array')) return 'array';
  if (inner.startsWith('Map')) return 'object';
  return inner === 'Bool' ? 'boolean' : 'string';
}

const field = ({ name, type, comment = '' }: Column) => ({
  ...{ name, type: fieldType(type), ...(comment && { description: comment }) },
  constraints: { required: !type.startsWith('Nullable') },
});

/** datapackage.json: a Frictionless data package. Without `bytes`, which its Parquet reader compares with other bytes. */
export function dataPackage({
  name,
  version,
  title,
  license,
  source_url,
  creator,
  made_at,
  tables,
  files,
}: Manifest): string {
  const resources = files.map(({ path, table, day, sha256 }) => ({
    name: `${table}-${day}`.toLowerCase().replaceAll('_', '-'),
    path,
    format: 'parquet',
    mediatype: 'application/vnd.apache.parquet',
    hash: `sha256:${sha256}`,
    // An empty text is a value.
    schema: { fields: tables.find((own) => own.name === table)?.columns.map(field) ?? [], missingValues: [] },
  }));
  const content = {
    ...{ name, version, title: title ?? name, created: made_at },
    ...(license !== null && { licenses: [{ name: license }] }),
    ...(creator !== null && { contributors: [{ title: creator, role: 'author' }] }),
    ...(source_url !== null && { homepage: source_url }),
    resources,
  };
  return `${JSON.stringify(content, undefined, 1)}\n`;
}
