import { ownValue } from './own-value.js';

/** The state of a dashboard's page, all of it in the address: `/d/UID?from&to&refresh&var-NAME&viewPanel`. */
export interface PageAddress {
  readonly uid: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly refresh: string | undefined;
  readonly variables: Readonly<Record<string, readonly string[]>>;
  /** Key of the panel that fills the page: its ID, and of a repeated one its values. */
  readonly panel: string | undefined;
}

/** Undefined for an address that is not of a dashboard. */
export function parseAddress(path: string, search: string): PageAddress | undefined {
  const uid = /^\/d\/([\w-]+)/.exec(path)?.[1];
  if (uid === undefined) return undefined;
  const query = new URLSearchParams(search);
  const variables: Record<string, string[]> = {};
  for (const [key, value] of query) {
    if (!key.startsWith('var-')) continue;
    const name = key.slice('var-'.length);
    variables[name] = [...(ownValue(variables, name) ?? []), value];
  }
  return {
    uid,
    from: query.get('from') ?? undefined,
    to: query.get('to') ?? undefined,
    refresh: query.get('refresh') ?? undefined,
    variables,
    panel: query.get('viewPanel')?.replace(/^panel-/, ''),
  };
}

export function formatAddress({ uid, from, to, refresh, variables, panel }: PageAddress): string {
  const query = new URLSearchParams();
  if (from !== undefined) query.set('from', from);
  if (to !== undefined) query.set('to', to);
  if (refresh !== undefined) query.set('refresh', refresh);
  for (const [name, values] of Object.entries(variables)) {
    for (const value of values) query.append(`var-${name}`, value);
  }
  if (panel !== undefined) query.set('viewPanel', panel);
  const text = query.toString();
  return `/d/${uid}${text === '' ? '' : `?${text}`}`;
}

/** What the variables of a link are replaced by. */
export interface LinkContext {
  /** Values of the row, by column. */
  readonly row: Readonly<Record<string, string>>;
  /** Name of the field that has the link. */
  readonly field?: string;
  /** The value that has the link. */
  readonly value?: string;
  /** The time of its row, Unix milliseconds. */
  readonly time?: string;
  readonly variables: Readonly<Record<string, readonly string[]>>;
  /** The texts of their values, where they are others. */
  readonly texts: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
}

/**
 * Fills `${__data.fields.NAME}` (also `["NAME"]` and `[INDEX]`), `${__field.name}`, `${__value.raw}`, `${__value.time}`,
 * `${__url_time_range}`, `${__all_variables}`, `${__from}`, `${__to}` and variables (`$NAME`, `${NAME}`, `${NAME:text}`,
 * `${NAME:queryparam}`) of a link, encoded.
 */
export function fillLink(url: string, context: LinkContext): string {
  const filled = url
    .replace(/\$\{([^}]+)\}/g, (_, reference: string) => filledReference(reference, context))
    .replace(/\$(\w+)|\[\[(\w+)\]\]/g, (whole, bare: string | undefined, bracketed: string | undefined) => {
      const name = bare ?? bracketed ?? '';
      return Object.hasOwn(context.variables, name) || name.startsWith('__') ? filledReference(name, context) : whole;
    });
  return filled.replace(/\?&+/, '?').replace(/&&+/g, '&').replace(/[?&]$/, '');
}

/** The title of a link with the same references filled, as text. */
export const fillLinkTitle = (title: string, context: LinkContext): string =>
  title.replace(/\$\{([^}]+)\}/g, (_, reference: string) => decodeURIComponent(filledReference(reference, context)));

/** `.NAME`, `["NAME"]` or `[INDEX]` of a row; the raw value for `.numeric` and `.text` too. */
function fieldOf(reference: string, row: LinkContext['row']): string | undefined {
  const dotted = reference.replace(/^\[(?:"([^"]*)"|'([^']*)')\]/, '.$1$2');
  const index = /^\[(\d+)\]/.exec(dotted)?.[1];
  if (index !== undefined) return Object.values(row)[Number(index)];
  const name = dotted.slice(1);
  return ownValue(row, name) ?? ownValue(row, name.replace(/\.(?:numeric|text)$/, ''));
}

function filledReference(
  reference: string,
  { row, field, value, time, variables, texts, from, to }: LinkContext,
): string {
  if (reference === '__from') return encodeURIComponent(from);
  if (reference === '__to') return encodeURIComponent(to);
  if (reference === '__url_time_range') return `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
  if (reference === '__value.time') return encodeURIComponent(time ?? '');
  if (/^__value(\.|$)/.test(reference)) return encodeURIComponent(value ?? '');
  const asParameters = (name: string) =>
    (ownValue(variables, name) ?? []).map((one) => `var-${name}=${encodeURIComponent(one)}`).join('&');
  if (reference === '__all_variables') return Object.keys(variables).map(asParameters).join('&');
  if (reference === '__field.name') return encodeURIComponent(field ?? '');
  const fields = /^__data\.fields(.+)$/.exec(reference)?.[1];
  if (fields !== undefined) return encodeURIComponent(fieldOf(fields, row) ?? '');
  const [name = '', format] = reference.split(':');
  if (format === 'queryparam') return asParameters(name);
  const text = format === 'text' ? ownValue(texts, name) : undefined;
  return text === undefined
    ? (ownValue(variables, name) ?? []).map(encodeURIComponent).join(',')
    : encodeURIComponent(text);
}
