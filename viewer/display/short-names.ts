/**
 * Names of at most `max` characters, for the rows or columns of a chart. A long name shows both ends, because names often differ only
 * at their end; names that would look equal show the part in which they differ.
 */
export function shortNames(names: readonly string[], max: number): string[] {
  const groups = new Map<string, Set<string>>();
  const both = names.map((name) => bothEnds(name, max));
  names.forEach((name, i) => {
    const short = both[i] ?? name;
    groups.set(short, (groups.get(short) ?? new Set()).add(name));
  });
  return names.map((name, i) => {
    const alike = [...(groups.get(both[i] ?? name) ?? [])];
    return alike.length < 2 ? (both[i] ?? name) : fromDifference(name, alike, max);
  });
}

function bothEnds(name: string, max: number): string {
  const half = Math.floor((max - 1) / 2);
  return name.length > max ? `${name.slice(0, half)}…${name.slice(-half)}` : name;
}

/** From the beginning of the first word in which the names differ. */
function fromDifference(name: string, alike: readonly string[], max: number): string {
  let same = 0;
  while (alike.every((other) => other[same] === name[same])) same++;
  const start = name.lastIndexOf(' ', same - 1) + 1;
  const rest = start === 0 ? name : `…${name.slice(start)}`;
  return rest.length > max ? `${rest.slice(0, max - 1)}…` : rest;
}
