import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access, Admission } from './auth/index.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Undefined for paths that are not known. */
    readonly access?: Access;
  }
  interface FastifyRequest {
    /** What the request's head says of the caller; undefined until it was checked. */
    admission: Admission | undefined;
    /** The account that calls; undefined on public and control routes. */
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

/** A route as fastify takes it, with its access. `handler` returns the JSON to answer, or a reply that it has sent. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Like `/api/events/:eventId/outcomes/:marketId/history`. */
  readonly url: string;
  readonly access: Access;
  /** @throws HttpError for what is answered with an error */
  readonly handler: (request: RouteRequest, reply: FastifyReply) => unknown;
}
