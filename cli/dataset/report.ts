import { type ChangedFile, type Difference, damageLine, type Rebuilt, type Verified } from '../../datasets/index.js';

type Heading = Pick<Verified['manifest'], 'name' | 'version' | 'simulated' | 'manifest_sha256'>;

/** The release, whether its data is simulated, and the hash by which others name it. */
const headingLines = ({ name, version, simulated, manifest_sha256 }: Heading): string[] => [
  `${name}@${version}${simulated ? ', data of a simulated exchange' : ''}`,
  `SHA-256 of the manifest: ${manifest_sha256}`,
];

export function verifiedLines({ manifest, damages }: Verified, checksumsOnly: boolean): string[] {
  const rows = manifest.files.reduce((sum, file) => sum + file.rows, 0);
  const what = checksumsOnly ? 'checksums are right' : 'verified';
  const result =
    damages.length > 0
      ? [...damages.map(damageLine), `damaged: ${counted(damages.length, 'damage')}`]
      : [`${counted(manifest.files.length, 'file')}, ${counted(rows, 'row')}: ${what}`];
  return [...headingLines(manifest), ...result];
}

/** Whether every difference is that of a record that the release does not have: its row is missing, or replaces another one. */
export const isRebuilt = ({ unequal, more }: Rebuilt): boolean =>
  more.length === 0 &&
  unequal.every(
    ({ onlyInRelease, withoutRecord, onlyRebuilt, mayBeReplaced }) =>
      onlyInRelease.rows <= withoutRecord && (onlyRebuilt.rows === 0 || mayBeReplaced),
  );

export function rebuiltLines(manifest: Verified['manifest'], rebuilt: Rebuilt): string[] {
  const { records, transformVersion, identical, equal, unequal, more, taken, isUnfinished } = rebuilt;
  const { transform_version: released } = manifest.software;
  const version = released === transformVersion ? '' : ` (the release was made by version ${released})`;
  return [
    ...headingLines(manifest),
    `rebuilt from ${counted(records, 'raw record')} by transform version ${transformVersion}${version}`,
    ...unequal.map(({ path, onlyInRelease, withoutRecord, onlyRebuilt, mayBeReplaced }) => {
      const why = withoutRecord > 0 ? `, ${count(withoutRecord)} of them without a raw record in the release` : '';
      const later = mayBeReplaced && onlyRebuilt.rows > 0 ? ', which later records may have replaced' : '';
      return `${path}: ${counted(onlyInRelease.rows, 'row')} only in the release${why}; ${counted(onlyRebuilt.rows, 'row')} only rebuilt${later}${firstRow(onlyRebuilt.first ?? onlyInRelease.first)}`;
    }),
    ...more.map((path) => `${path}: only rebuilt`),
    `${counted(identical, 'file')} identical, ${count(equal)} with the same rows in other bytes, ${count(unequal.length + more.length)} different`,
    ...(taken.length === 0 ? [] : [`taken as they are, for a release has no raw records of them: ${taken.join(', ')}`]),
    ...(isUnfinished ? ['left out: computed tables of unfinished days, which depend on when they are computed'] : []),
  ];
}

const firstRow = (row: number | undefined): string => (row === undefined ? '' : `, first row ${count(row)}`);

export function diffLines(difference: Difference): { readonly lines: readonly string[]; readonly isEqual: boolean } {
  const { manifests, files, changed, equal, otherBytes } = difference;
  const [left, right] = manifests;
  const isEqual = files[0].length + files[1].length + changed.length === 0;
  const bytes = otherBytes === 0 ? '' : `, ${count(otherBytes)} of them in other bytes`;
  return {
    isEqual,
    lines: [
      `- ${left.name}@${left.version} ${left.manifest_sha256}`,
      `+ ${right.name}@${right.version} ${right.manifest_sha256}`,
      ...files[0].map((path) => `- ${path}`),
      ...files[1].map((path) => `+ ${path}`),
      ...changed.map(changedLine),
      `${counted(equal, 'file')} with the same rows${bytes}`,
    ],
  };
}

function changedLine({ path, rows, columns, onlyIn }: ChangedFile): string {
  const signs = ['-', '+'] as const;
  const parts = [
    rows[0] === rows[1] ? counted(rows[0], 'row') : `${count(rows[0])} -> ${counted(rows[1], 'row')}`,
    ...signs.flatMap((sign, side) => (columns[side] ?? []).map((column) => `${sign}column ${column}`)),
    ...signs.flatMap((sign, side) => {
      const more = onlyIn?.[side];
      return more && more.rows > 0 ? [`${sign}${counted(more.rows, 'row')}${firstRow(more.first)}`] : [];
    }),
  ];
  const order = onlyIn?.every(({ rows: more }) => more === 0) ? ', in another order' : '';
  return `~ ${path}: ${parts.join('; ')}${order}`;
}

const count = (value: number): string => value.toLocaleString('en-US');
const counted = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`;
