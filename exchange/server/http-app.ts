import { type Duplex, Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock, Logger } from '../../core/index.js';
import { type Authenticator, sameText } from './auth/index.js';
import { HttpError } from './errors.js';
import type { Faults } from './faults.js';
import { parseBody, type RawBody, readBody } from './http-body.js';
import type { ExchangeMetrics } from './metrics.js';
import type { RateLimit } from './rate-limit.js';
import type { Route, RouteGeneric } from './route.js';
import type { WireEncoder } from './wire-encoder.js';

const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** More than Node.js takes in a request's head, so that a long ID is an unknown ID and not an unknown path. */
const MAX_PARAM_LENGTH = 16 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

interface HttpAppOptions {
  readonly routes: readonly Route[];
  readonly authenticator: Authenticator;
  readonly encoder: WireEncoder;
  readonly faults: Faults;
  readonly rateLimit: RateLimit | undefined;
  readonly controlToken: string;
  readonly metrics: ExchangeMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the server stops: delayed answers are given up. */
  readonly stopping: AbortSignal;
}

/**
 * The fastify instance of REST and control calls. A request meets armed faults and the rate limit, then its path,
 * credentials and body are checked, in this order; then the handler of its route is called.
 */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const { routes, encoder, metrics, faults } = options;
  const app = Fastify({
    http: { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: searchParams },
    clientErrorHandler: refuseBroken,
    frameworkErrors: (_error, request, reply) => void sendError(reply, notFound(request)),
  });
  app.decorateRequest('admission', undefined);
  app.decorateRequest('userId', undefined);
  app.addHook('onRequest', async (request, reply) => {
    if (!isControl(request)) {
      if (faults.any && (await strike(request, reply, options))) return;
      checkRate(request, options.rateLimit);
    }
    if (!request.is404) await checkAccess(request, options);
  });
  // Whatever a body says it is, it is read as JSON.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
    request.method === 'POST' && !request.is404 ? readBody(payload, request.admission?.signed) : undefined,
  );
  app.addHook('preHandler', async (request) => {
    request.userId = request.admission?.finish();
    if (request.body !== undefined) request.body = parseBody(request.body as RawBody);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    metrics.requests.labels(request.routeOptions.url ?? 'unknown', String(reply.statusCode)).inc();
    if (payload instanceof Readable) payload.once('error', (error) => report(error, request, options));
    if (typeof payload !== 'string' || reply.statusCode >= 400 || isControl(request)) return payload;
    return faults.take('truncated-body', scopeOf(request)) ? truncated(reply, payload) : payload;
  });
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof HttpError) return sendError(reply, error);
    report(error, request, options);
    return sendError(reply, new HttpError(500, 'internal error'));
  });
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  const add = (scope: FastifyInstance, list: readonly Route[]) => {
    for (const { access, ...route } of list) scope.route<RouteGeneric>({ ...route, config: { access } });
  };
  add(
    app,
    routes.filter(({ access }) => access === 'control'),
  );
  // Control calls are read by tests: quirks do not change their answers.
  app.register(async (api) => {
    api.setReplySerializer((payload) => encoder.encode(payload));
    add(
      api,
      routes.filter(({ access }) => access !== 'control'),
    );
  });
  return app;
}

const isControl = ({ url }: FastifyRequest): boolean => url.startsWith('/_control/');
const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '/';
const searchParams = (text: string) => new URLSearchParams(text) as unknown as { [key: string]: unknown };

/** Where faults of REST look for what they strike. */
function scopeOf({ params }: FastifyRequest) {
  return { stream: 'rest', eventId: (params as { eventId?: string } | undefined)?.eventId } as const;
}

/** Lets armed faults strike the request; true when it is not to be answered any more. @throws HttpError */
async function strike(request: FastifyRequest, reply: FastifyReply, options: HttpAppOptions): Promise<boolean> {
  const { faults, clock, stopping } = options;
  const scope = scopeOf(request);
  const slow = faults.take('slow', scope);
  if (slow) await clock.sleep(slow.ms ?? 0, stopping);
  if (faults.take('http-reset', scope)) {
    reply.hijack();
    request.raw.socket.resetAndDestroy();
    return true;
  }
  if (faults.take('drop-connection', scope)) {
    reply.hijack();
    request.raw.socket.destroy();
    return true;
  }
  const freeze = faults.take('freeze', scope);
  if (freeze && freeze.ms === undefined) {
    reply.hijack();
    return true;
  }
  if (freeze?.ms !== undefined) await clock.sleep(freeze.ms, stopping);
  if (faults.take('http-429', scope)) throw new HttpError(429, 'too many requests', { 'Retry-After': '1' });
  if (faults.take('http-500', scope)) throw new HttpError(500, 'internal error');
  return false;
}

/** @throws HttpError 429 */
function checkRate(request: FastifyRequest, rateLimit: RateLimit | undefined): void {
  const wait = rateLimit?.refuse(request.ip);
  if (wait !== undefined) throw new HttpError(429, 'too many requests', { 'Retry-After': String(wait) });
}

/** What the head alone says of the caller. @throws HttpError 400, 401, 404 */
async function checkAccess(request: FastifyRequest, options: HttpAppOptions): Promise<void> {
  const { method, headers, params } = request;
  if (Object.values(params as Record<string, string>).includes('')) throw notFound(request);
  const { access = 'public' } = request.routeOptions.config;
  if (access === 'control') {
    const given = headers['x-control-token'];
    if (typeof given === 'string' && sameText(given, options.controlToken)) return;
    throw new HttpError(401, 'the header X-Control-Token is missing or wrong');
  }
  request.admission = await options.authenticator.admit(access, { method, path: pathOf(request), headers });
}

function notFound(request: FastifyRequest): HttpError {
  return new HttpError(404, `there is no ${request.method} ${pathOf(request).slice(0, 200)}`);
}

/** Error bodies are not changed by quirks. */
function sendError(reply: FastifyReply, error: HttpError): FastifyReply {
  return reply.code(error.status).headers(error.headers).type(JSON_TYPE).send(JSON.stringify(error.body()));
}

/** Counts and logs a defect of the exchange; a client that is gone or a server that stops is none. */
function report(error: unknown, request: FastifyRequest, { metrics, log, stopping }: HttpAppOptions): void {
  if (request.raw.socket.destroyed || stopping.aborted) return;
  metrics.failures.inc();
  log.error({ err: error, method: request.method, path: pathOf(request) }, 'a request failed');
}

/** The first half of a body whose whole length is announced; then the connection ends. */
function truncated(reply: FastifyReply, payload: string): Readable {
  const bytes = Buffer.from(payload);
  reply.header('Content-Length', bytes.length);
  reply.raw.once('finish', () => reply.raw.socket?.destroy());
  return Readable.from([bytes.subarray(0, Math.floor(bytes.length / 2))]);
}

/** Bytes that are not HTTP get an error body like everything else. */
function refuseBroken(
  error: NodeJS.ErrnoException & { bytesParsed?: number },
  socket: Duplex & { bytesWritten?: number },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || (socket.bytesWritten ?? 0) > 0) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(new HttpError(400, 'the request is not HTTP').body());
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}
