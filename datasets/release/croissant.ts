import type { Column } from '../statement.js';
import type { Manifest } from './manifest.js';

const CONTEXT = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  citeAs: 'cr:citeAs',
  column: 'cr:column',
  conformsTo: 'dct:conformsTo',
  cr: 'http://mlcommons.org/croissant/',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  dct: 'http://purl.org/dc/terms/',
  examples: { '@id': 'cr:examples', '@type': '@json' },
  extract: 'cr:extract',
  field: 'cr:field',
  fileObject: 'cr:fileObject',
  fileProperty: 'cr:fileProperty',
  fileSet: 'cr:fileSet',
  format: 'cr:format',
  includes: 'cr:includes',
  isLiveDataset: 'cr:isLiveDataset',
  jsonPath: 'cr:jsonPath',
  key: 'cr:key',
  md5: 'cr:md5',
  parentField: 'cr:parentField',
  path: 'cr:path',
  rai: 'http://mlcommons.org/croissant/RAI/',
  recordSet: 'cr:recordSet',
  references: 'cr:references',
  regex: 'cr:regex',
  repeated: 'cr:repeated',
  replace: 'cr:replace',
  samplingRate: 'cr:samplingRate',
  sc: 'https://schema.org/',
  separator: 'cr:separator',
  source: 'cr:source',
  subField: 'cr:subField',
  transform: 'cr:transform',
} as const;

function dataType(type: string): string {
  const inner = type.replace(/^(?:Nullable|Array)\((.*)\)$/, '$1');
  if (/^U?Int/.test(inner)) return 'sc:Integer';
  if (inner.startsWith('Float')) return 'sc:Float';
  if (inner.startsWith('DateTime')) return 'sc:Date';
  return inner === 'Bool' ? 'sc:Boolean' : 'sc:Text';
}

/** Records of a file; columns with a map are left out, which Croissant cannot describe. */
const recordSet = (id: string, path: string, columns: readonly Column[]) => ({
  '@type': 'cr:RecordSet',
  '@id': id,
  name: id,
  field: columns
    .filter(({ type }) => !type.startsWith('Map'))
    .map(({ name, type, comment = '' }) => ({
      ...{ '@type': 'cr:Field', '@id': `${id}/${name}`, name, description: comment, dataType: dataType(type) },
      ...(type.startsWith('Array') && { repeated: true }),
      source: { fileObject: { '@id': path }, extract: { column: name } },
    })),
});

/** croissant.json: Croissant 1.0, with one record set per file. */
export function croissant(manifest: Manifest): string {
  const { name, version, title, license, creator, source_url, made_at, simulated, tables, files } = manifest;
  const content = {
    '@context': CONTEXT,
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.0',
    ...{ name, version, datePublished: made_at },
    description: `${title ?? name}.${simulated ? ' Data of a simulated exchange, not of a real one.' : ''}`,
    license: license ?? 'not stated',
    creator: { '@type': 'sc:Organization', name: creator ?? 'not stated' },
    url: source_url ?? 'not stated',
    citeAs: `${title ?? name}, version ${version}, manifest sha256:${manifest.manifest_sha256}`,
    distribution: files.map(({ path, sha256, bytes }) => ({
      ...{ '@type': 'cr:FileObject', '@id': path, name: path, contentUrl: path },
      ...{ contentSize: `${bytes} B`, encodingFormat: 'application/x-parquet', sha256 },
    })),
    recordSet: files.map(({ path, table, day }) =>
      recordSet(`${table}-${day}`, path, tables.find((own) => own.name === table)?.columns ?? []),
    ),
  };
  return `${JSON.stringify(content, undefined, 1)}\n`;
}
