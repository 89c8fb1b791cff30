import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Logger } from '../../core/index.js';
import { type Authenticator, sameText } from './auth/index.js';
import { HttpError } from './errors.js';
import type { Faults } from './faults.js';
import { parseBody, readBody } from './http-body.js';
import type { ExchangeMetrics } from './metrics.js';
import type { RateLimit } from './rate-limit.js';
import { sendReply } from './reply.js';
import type { Reply, Router } from './router.js';
import type { WireEncoder } from './wire-encoder.js';

export interface HttpHandlerOptions {
  readonly router: Router;
  readonly authenticator: Authenticator;
  readonly encoder: WireEncoder;
  readonly faults: Faults;
  readonly rateLimit: RateLimit | undefined;
  readonly controlToken: string;
  readonly metrics: ExchangeMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when the server stops: answers that are held back are given up. */
  readonly stopping: AbortSignal;
}

/** Answers REST and control requests: faults and rate limit, path, credentials, body, then the route's handler. */
export class HttpHandler {
  constructor(private readonly options: HttpHandlerOptions) {}

  /** The listener of the HTTP server's `request` event. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/', search = ''] = split(request.url ?? '/');
    const isControl = path.startsWith('/_control/');
    const { metrics } = this.options;
    let label = 'unknown';
    try {
      if (!isControl && this.options.faults.any && (await this.#strikes(path, request))) return;
      if (!isControl) this.#checkRate(request);
      const match = this.options.router.match(request.method ?? '', path);
      if (!match) throw new HttpError(404, `there is no ${request.method} ${path.slice(0, 200)}`);
      label = match.route.path;
      const { method, access, handle } = match.route;
      if (access === 'control') this.#checkToken(request);
      const { headers } = request;
      const admission = this.options.authenticator.admit(access, { method, path, headers });
      const raw = method === 'POST' ? await readBody(request, admission.signed) : undefined;
      const userId = admission.finish();
      const body = method === 'POST' ? parseBody(raw) : undefined;
      const query = new URLSearchParams(search);
      const reply = await handle({ params: match.params, query, headers, body, userId });
      metrics.requests.labels(label, String(reply.status)).inc();
      await this.#send(request, response, reply, { path, isControl });
    } catch (error) {
      const known = this.#asHttpError(error, request);
      metrics.requests.labels(label, String(known.status)).inc();
      // An answer that broke off half-way must not look like a complete one.
      if (response.headersSent) request.socket.destroy();
      await sendReply(response, { status: known.status, json: known.body() }, JSON.stringify, known.headers);
    }
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    reply: Reply,
    { path, isControl }: { path: string; isControl: boolean },
  ): Promise<void> {
    const { faults, encoder } = this.options;
    // Control calls are read by tests: quirks do not bend their answers.
    const encode = isControl ? JSON.stringify : (value: unknown) => encoder.encode(value);
    const place = { stream: 'rest', eventId: eventIn(path) } as const;
    const truncated = !isControl && !('empty' in reply) && faults.take('truncated-body', place) !== undefined;
    await sendReply(response, reply, encode, {}, truncated);
    if (truncated) request.socket.destroy();
  }

  /** Lets armed faults strike the request; true when it is not to be answered any more. @throws HttpError */
  async #strikes(path: string, request: IncomingMessage): Promise<boolean> {
    const { faults, clock, stopping } = this.options;
    const place = { stream: 'rest', eventId: eventIn(path) } as const;
    const slow = faults.take('slow', place);
    if (slow) await clock.sleep(slow.ms ?? 0, stopping);
    if (faults.take('http-reset', place)) {
      request.socket.resetAndDestroy();
      return true;
    }
    if (faults.take('drop-connection', place)) {
      request.socket.destroy();
      return true;
    }
    const freeze = faults.take('freeze', place);
    if (freeze && freeze.ms === undefined) return true;
    if (freeze?.ms !== undefined) await clock.sleep(freeze.ms, stopping);
    if (faults.take('http-429', place)) throw new HttpError(429, 'too many requests', { 'Retry-After': '1' });
    if (faults.take('http-500', place)) throw new HttpError(500, 'internal error');
    return false;
  }

  #checkRate(request: IncomingMessage): void {
    const { rateLimit } = this.options;
    const wait = rateLimit?.refuse(request.socket.remoteAddress ?? '');
    if (wait !== undefined) throw new HttpError(429, 'too many requests', { 'Retry-After': String(wait) });
  }

  #checkToken(request: IncomingMessage): void {
    const given = request.headers['x-control-token'];
    if (typeof given !== 'string' || !sameText(given, this.options.controlToken)) {
      throw new HttpError(401, 'the header X-Control-Token is missing or wrong');
    }
  }

  #asHttpError(error: unknown, request: IncomingMessage): HttpError {
    if (error instanceof HttpError) return error;
    if (!request.destroyed && !this.options.stopping.aborted) {
      this.options.metrics.failures.inc();
      this.options.log.error(
        { err: error, method: request.method, path: split(request.url ?? '/')[0] },
        'a request failed',
      );
    }
    return new HttpError(500, 'internal error');
  }
}

function split(url: string): [string, string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

/** The event that a REST path is about. */
const eventIn = (path: string): string | undefined => /^\/api\/events\/([^/]+)\//.exec(path)?.[1];
