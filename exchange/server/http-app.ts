import { type Duplex, Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock, Logger } from '../../core/index.js';
import { alteredJson } from './altered-json.js';
import { type Admission, type Authenticator, sameText } from './auth/index.js';
import { HttpError } from './errors.js';
import { type FaultScope, type Faults, isBotsAgent } from './faults.js';
import { type BodyParsed, parseBody, type RawBody, readBody } from './http-body.js';
import type { ExchangeMetrics } from './metrics.js';
import type { RateLimit } from './rate-limit.js';
import type { Route, RouteGeneric } from './route.js';
import { StaleAnswers } from './stale-answers.js';
import type { WireEncoder } from './wire-encoder.js';

const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** More than Node.js accepts in a request's head, so that a long ID is an unknown ID and not an unknown path. */
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
  /** Aborted when the server stops: delayed responses are abandoned. */
  readonly stopping: AbortSignal;
  /** How far the clock that checks signatures is ahead, milliseconds. Default 0. */
  readonly skewMs?: number;
}

/**
 * The fastify instance of REST and control calls. Per request, in this order: armed faults, rate limit, path,
 * credentials, body, the handler of its route.
 */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const { routes, encoder, metrics, faults, clock } = options;
  const staleAnswers = new StaleAnswers(faults);
  /** The body with the armed faults that change it. */
  const faultyBody = (request: FastifyRequest, reply: FastifyReply, payload: string): string | Readable => {
    const scope = scopeOf(request);
    const body = alteredBody(staleAnswers.replace(request, payload, scope), faults, scope);
    return faults.take('truncated-body', scope) ? truncated(reply, body) : body;
  };
  const app = Fastify({
    http: { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: searchParams },
    clientErrorHandler: rejectMalformed,
    frameworkErrors: (_error, request, reply) => void sendError(reply, notFound(request)),
  });
  app.decorateRequest('admission', undefined);
  app.decorateRequest('userId', undefined);
  // Callbacks, not async functions: no promises on the path of every request.
  app.addHook('onRequest', (request, reply, done) => {
    if (isControl(request) || !faults.any) {
      enter(request, options, done);
      return;
    }
    const skewMs = faults.take('clock-skew', scopeOf(request))?.ms ?? 0;
    if (skewMs !== 0) reply.header('Date', new Date(clock.nowMs() + skewMs).toUTCString());
    const skewed = { ...options, skewMs };
    void applyFaults(request, reply, options).then((ended) => ended || enter(request, skewed, done), done);
  });
  // A body is parsed as JSON regardless of its content type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable, done: BodyParsed) => {
    if (request.method === 'POST' && !request.is404) readBody(payload, request.admission?.signed, done);
    else done(null);
  });
  app.addHook('preHandler', (request, _reply, done) => {
    try {
      request.userId = request.admission?.finish();
      if (request.body !== undefined) request.body = parseBody(request.body as RawBody);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    metrics.requests.labels(request.routeOptions.url ?? 'unknown', String(reply.statusCode)).inc();
    if (payload instanceof Readable) payload.once('error', (error) => report(error, request, options));
    const mayChange = faults.any && typeof payload === 'string' && reply.statusCode < 400 && !isControl(request);
    done(null, mayChange ? faultyBody(request, reply, payload) : payload);
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
  // Tests read the responses of control calls: quirks do not change them.
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

/** The scope of a REST request, for faults. */
function scopeOf({ params, headers }: FastifyRequest) {
  const eventId = (params as { eventId?: string } | undefined)?.eventId;
  return { stream: 'rest', eventId, isBot: isBotsAgent(headers['user-agent']) } as const;
}

/** Applies armed faults to the request; true when it gets no response. @throws HttpError */
async function applyFaults(request: FastifyRequest, reply: FastifyReply, options: HttpAppOptions): Promise<boolean> {
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

/** Checks the rate limit, then the path and the credentials in the head. */
function enter(request: FastifyRequest, options: HttpAppOptions, done: (error?: Error) => void): void {
  let admission: ReturnType<typeof checkAccess>;
  try {
    if (!isControl(request)) checkRate(request, options.rateLimit);
    admission = request.is404 ? undefined : checkAccess(request, options);
  } catch (error) {
    done(error as Error);
    return;
  }
  if (admission instanceof Promise) {
    void admission.then((later) => {
      request.admission = later;
      done();
    }, done);
    return;
  }
  request.admission = admission;
  done();
}

/** Checks the path and the credentials in the head. @throws HttpError 400, 401, 404; or rejects with it */
function checkAccess(request: FastifyRequest, options: HttpAppOptions): Admission | Promise<Admission> | undefined {
  const { method, headers, params } = request;
  if (Object.values(params as Record<string, string>).includes('')) throw notFound(request);
  const { access = 'public' } = request.routeOptions.config;
  if (access === 'control') {
    const given = headers['x-control-token'];
    if (typeof given === 'string' && sameText(given, options.controlToken)) return undefined;
    throw new HttpError(401, 'the header X-Control-Token is missing or wrong');
  }
  const { authenticator, skewMs = 0 } = options;
  return authenticator.authenticate(access, { method, path: pathOf(request), headers, skewMs });
}

function notFound(request: FastifyRequest): HttpError {
  return new HttpError(404, `there is no ${request.method} ${pathOf(request).slice(0, 200)}`);
}

/** Error bodies are not changed by quirks. */
function sendError(reply: FastifyReply, error: HttpError): FastifyReply {
  return reply.code(error.status).headers(error.headers).type(JSON_TYPE).send(JSON.stringify(error.body()));
}

/** Counts and logs an internal error, unless the client has disconnected or the server is stopping. */
function report(error: unknown, request: FastifyRequest, { metrics, log, stopping }: HttpAppOptions): void {
  if (request.raw.socket.destroyed || stopping.aborted) return;
  metrics.failures.inc();
  log.error({ err: error, method: request.method, path: pathOf(request) }, 'a request failed');
}

/** The body with the armed fault that changes its fields, if it has them. */
function alteredBody(body: string, faults: Faults, scope: FaultScope): string {
  for (const kind of ['rename-field', 'number-as-text'] as const) {
    const fault = faults.find(kind, scope);
    const altered = fault && alteredJson(body, fault);
    if (!fault || altered === undefined) continue;
    faults.use(fault, scope);
    return altered;
  }
  return body;
}

/** The first half of a body whose Content-Length is the full length; then the connection ends. */
function truncated(reply: FastifyReply, payload: string): Readable {
  const bytes = Buffer.from(payload);
  reply.header('Content-Length', bytes.length);
  // Node.js has detached the socket from the response when that is finished.
  const { socket } = reply.raw;
  reply.raw.once('finish', () => socket?.destroy());
  return Readable.from([bytes.subarray(0, Math.floor(bytes.length / 2))]);
}

/** Answers bytes that are not HTTP with an error body. */
function rejectMalformed(
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
