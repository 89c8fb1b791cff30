import type { IncomingHttpHeaders } from 'node:http';

/** What a handler gets: the request after its path, access and body were checked. */
export interface RouteRequest {
  /** The values of the `:name` segments, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body of a POST; undefined when none was sent. */
  readonly body: unknown;
  /** The account that calls; undefined on public and control routes. */
  readonly userId: string | undefined;
}

/** What a handler answers; errors are thrown as HttpError. */
export type Reply =
  | { readonly status: number; readonly json: unknown }
  /** No body. */
  | { readonly status: number; readonly empty: true }
  /** JSON text in pieces, for answers too large to be made in one go. */
  | { readonly status: number; readonly pieces: readonly string[] }
  /** Lines of JSON, made while they are read. */
  | { readonly status: number; readonly lines: AsyncIterable<string> };

/** Who may call: anybody, the holder of an API key, of a JWT, or of the control token. */
export type Access = 'public' | 'api-key' | 'jwt' | 'control';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Like `/api/events/:eventId/outcomes/:marketId/history`. */
  readonly path: string;
  readonly access: Access;
  readonly handle: (request: RouteRequest) => Reply | Promise<Reply>;
}

export interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a method and path; a known path with another method is no route. */
export class Router {
  readonly #bySize = new Map<string, { readonly route: Route; readonly segments: readonly string[] }[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.path.split('/');
      const key = `${route.method} ${segments.length}`;
      this.#bySize.set(key, [...(this.#bySize.get(key) ?? []), { route, segments }]);
    }
  }

  match(method: string, path: string): RouteMatch | undefined {
    const given = path.split('/');
    for (const { route, segments } of this.#bySize.get(`${method} ${given.length}`) ?? []) {
      const params = matchSegments(segments, given);
      if (params) return { route, params };
    }
    return undefined;
  }
}

function matchSegments(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const text = given[i] ?? '';
    if (!segment.startsWith(':')) {
      if (segment !== text) return undefined;
      continue;
    }
    try {
      params[segment.slice(1)] = decodeURIComponent(text);
    } catch {
      return undefined;
    }
    if (text === '') return undefined;
  }
  return params;
}
