import type { AnnotationData, PanelData } from '../dashboard-queries.js';
import type { Scope } from '../display/fill-text.js';
import type { EventListing, FirstPageRequest, Mover } from '../first-page.js';
import type { PageDashboard } from '../page-model.js';
import type { RecordingState } from '../recording-state.js';
import type { ResolvedVariable } from '../variables.js';

export interface ListedDashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly panels: number;
}

export interface DashboardList {
  readonly dashboards: readonly ListedDashboard[];
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
}

export interface View {
  readonly from: string;
  readonly to: string;
  readonly variables: Readonly<Record<string, readonly string[]>>;
  readonly refreshMs: number;
}

/** A request for a panel; of a repeated one with its values of the variables. */
export interface PanelAsk {
  readonly uid: string;
  readonly id: number;
  /** `nowMs`: that of the drawn data, for what belongs to it. */
  readonly body: View & { readonly width: number; readonly scope: Scope; readonly nowMs?: number };
}

/** The statements of a panel. */
export interface PanelSql {
  readonly statements: readonly string[];
  /** Whether ClickHouse's web console can be opened with one of them. */
  readonly hasConsole: boolean;
}

/** What the server answered instead of data. */
export class AnswerError extends Error {
  constructor(
    message: string,
    readonly status = 0,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** After which a page asks again for what was unavailable, milliseconds. */
export const RETRY_MS = 2000;

/** Whether the viewer or ClickHouse does not run: what was asked for can be had when it is back. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof AnswerError && (error.status === 0 || error.status === 503);

/** Whether the viewer asks for its token. */
export const isLoggedOut = (error: unknown): boolean => error instanceof AnswerError && error.status === 401;

/** @throws AnswerError for any other status than 200 */
async function answerOf(path: string, signal?: AbortSignal, body?: unknown): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      ...(signal ? { signal } : {}),
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new AnswerError('the viewer does not respond; is `chancery` running?', 0, { cause: error });
  }
  if (answer.ok) return answer;
  const value: unknown = await answer.json().catch(() => undefined);
  throw new AnswerError((value as { error?: string } | undefined)?.error ?? `status ${answer.status}`, answer.status);
}

async function ask<T>(path: string, signal: AbortSignal, body?: unknown): Promise<T> {
  const answer = await answerOf(path, signal, body);
  return (await answer.json().catch(() => {
    // An answer that was given up is not one without a body.
    signal.throwIfAborted();
  })) as T;
}

const base = (uid: string): string => `/api/dashboards/${encodeURIComponent(uid)}`;

export const api = {
  login: (token: string, signal: AbortSignal) => ask<unknown>('/api/login', signal, { token }),
  list: (signal: AbortSignal) => ask<DashboardList>('/api/dashboards', signal),
  events: (request: FirstPageRequest, signal: AbortSignal) => ask<EventListing>('/api/events', signal, request),
  movers: (signal: AbortSignal) => ask<readonly Mover[]>('/api/movers', signal),
  state: (signal: AbortSignal) => ask<RecordingState>('/api/state', signal),
  dashboard: (uid: string, signal: AbortSignal) => ask<PageDashboard>(base(uid), signal),
  variables: (uid: string, view: View, signal: AbortSignal) =>
    ask<readonly ResolvedVariable[]>(`${base(uid)}/variables`, signal, view),
  /** The complete result of a panel's query, as a file. */
  export: async ({ uid, id, body }: PanelAsk, format: 'csv' | 'parquet'): Promise<Blob> => {
    const answer = await answerOf(`${base(uid)}/panels/${id}/export`, undefined, { ...body, format });
    return answer.blob();
  },
  annotations: (uid: string, view: View, signal: AbortSignal) =>
    ask<readonly AnnotationData[]>(`${base(uid)}/annotations`, signal, view),
  panel: ({ uid, id, body }: PanelAsk, signal: AbortSignal) =>
    ask<PanelData>(`${base(uid)}/panels/${id}/data`, signal, body),
  sql: ({ uid, id, body }: PanelAsk, signal: AbortSignal) =>
    ask<PanelSql>(`${base(uid)}/panels/${id}/sql`, signal, body),
  /** Address that leads to ClickHouse's web console with the n-th statement of a panel. */
  consoleHref: ({ uid, id, body }: PanelAsk, statement: number): string => {
    const query = new URLSearchParams({ request: JSON.stringify(body), statement: String(statement) });
    return `${base(uid)}/panels/${id}/console?${query}`;
  },
};
