import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access, Admission } from './auth/index.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Undefined for unknown paths. */
    readonly access?: Access;
  }
  interface FastifyRequest {
    /** The result of checking the request's head; undefined before. */
    admission: Admission | undefined;
    /** The caller's user ID; undefined on public and control routes. */
    userId: string | undefined;
  }
}

/** Path parameters, percent-decoded, and the query. */
export interface RouteGeneric {
  readonly Params: Readonly<Record<string, string>>;
  readonly Querystring: URLSearchParams;
}

/** A request after its path, access and body were checked. `body` is the parsed JSON; undefined when none was sent. */
export type RouteRequest = FastifyRequest<RouteGeneric>;

/** A fastify route with its access. `handler` returns the JSON of the response, or a reply that it has sent. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Like `/api/events/:eventId/outcomes/:marketId/history`. */
  readonly url: string;
  readonly access: Access;
  /** @throws HttpError for an error response */
  readonly handler: (request: RouteRequest, reply: FastifyReply) => unknown;
}
