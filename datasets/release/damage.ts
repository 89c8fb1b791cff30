/** What is wrong with a file of a dataset. */
export interface Damage {
  readonly path: string;
  readonly column?: string;
  /** The first row with it, from 1. */
  readonly row?: number;
  readonly what: string;
}

/** A damage in one line. */
export function damageLine({ path, column, row, what }: Damage): string {
  const parts = [
    path,
    ...(column === undefined ? [] : [`column ${column}`]),
    ...(row === undefined ? [] : [`row ${row}`]),
  ];
  return `${parts.join(', ')}: ${what}`;
}
