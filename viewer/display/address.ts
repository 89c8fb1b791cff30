/** The state of a dashboard's page, all of it in the address: `/d/UID?from&to&refresh&var-NAME&viewPanel`. */
export interface PageAddress {
  readonly uid: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly refresh: string | undefined;
  readonly variables: Readonly<Record<string, readonly string[]>>;
  /** ID of the panel that fills the page. */
  readonly panel: number | undefined;
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
    variables[name] = [...(variables[name] ?? []), value];
  }
  const panel = Number(query.get('viewPanel')?.replace(/^panel-/, '') ?? Number.NaN);
  return {
    uid,
    from: query.get('from') ?? undefined,
    to: query.get('to') ?? undefined,
    refresh: query.get('refresh') ?? undefined,
    variables,
    panel: Number.isInteger(panel) ? panel : undefined,
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
  if (panel !== undefined) query.set('viewPanel', String(panel));
  const text = query.toString();
  return `/d/${uid}${text === '' ? '' : `?${text}`}`;
}

/** The context of a data link. */
export interface LinkContext {
  /** Values of the row, by column. */
  readonly row: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, readonly string[]>>;
  readonly from: string;
  readonly to: string;
}

/** Fills `${__data.fields.NAME}`, `${__url_time_range}`, `${VARIABLE:queryparam}` and `${VARIABLE}` of a link, encoded. */
export function fillLink(url: string, { row, variables, from, to }: LinkContext): string {
  const filled = url.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    if (name === '__url_time_range') return `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
    const [, column] = /^__data\.fields\.(.+)$/.exec(name) ?? [];
    if (column !== undefined) return encodeURIComponent(row[column] ?? '');
    const [variable = '', format] = name.split(':');
    const values = variables[variable] ?? [];
    if (format !== 'queryparam') return values.map(encodeURIComponent).join(',');
    return values.map((value) => `var-${variable}=${encodeURIComponent(value)}`).join('&');
  });
  return filled.replace(/\?&+/, '?').replace(/&&+/g, '&').replace(/[?&]$/, '');
}
