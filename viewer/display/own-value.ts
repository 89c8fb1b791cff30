/** The value of a record at a name that others have chosen, such as `constructor`: never one that every object has. */
export const ownValue = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;
