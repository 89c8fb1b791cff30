import { randomBytes } from 'node:crypto';
import { type AddressInfo, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Counter } from 'prom-client';
import { z } from 'zod';
import { isLoopback } from '../client/index.js';
import {
  type Clock,
  type Component,
  describeError,
  type Logger,
  listenError,
  UnavailableError,
  UsageError,
} from '../core/index.js';
import { answerBody } from './answer-body.js';
import { onceClosed } from './closed-response.js';
import {
  type DashboardFolder,
  dashboardFolder,
  readDashboardFolder,
  type ViewedDashboard,
  type ViewedPanel,
} from './dashboard-file.js';
import { DashboardQueries } from './dashboard-queries.js';
import { type ConnectReader, QueryError, ReaderDatabase } from './database.js';
import { FirstPage, firstPageRequest } from './first-page.js';
import { OwnNames, SECURITY_HEADERS } from './guard.js';
import { Login } from './login.js';
import { NOT_FOUND_PAGE } from './not-found-page.js';
import { type PageFile, type PageFileName, readPage } from './page-files.js';
import { pageDashboard } from './page-model.js';
import { QueryPool } from './query-pool.js';
import { ReaderGrants } from './reader-grants.js';
import { recordingState } from './recording-state.js';
import { StateStreams } from './state-streams.js';
import { UnreadAnswers } from './unread-answers.js';

const MAX_BODY_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 10_000;
/** How often these two are checked. */
const TIMEOUT_CHECK_MS = 500;
/** A client that neither sends nor reads for this long is disconnected. It is longer than a query may take. */
const IDLE_MS = 120_000;
/** 500 browsers with six connections and one stream each, and some to spare. */
const MAX_CONNECTIONS = 4000;
/** Limits for bytes of answers that clients have not read: of all clients together, and of one. */
const MAX_UNREAD_BYTES = 10 * 1024 * 1024;
const MAX_CLIENT_UNREAD_BYTES = 1024 * 1024;
const READ_WITHIN_MS = 10_000;
const MAX_QUERIES = 4;
/**
 * How many of these may be refreshes that take long. It leaves half of the processors for recording, which matters where ClickHouse runs
 * on this machine.
 */
const MAX_REFRESHES = Math.max(1, Math.min(MAX_QUERIES, Math.floor(availableParallelism() / 2)));
const MAX_QUERY_S = 30;
/** Limit for the size of the results that are kept for other viewers. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Less than the shortest interval between two events of a stream. */
const STREAM_KEPT_MS = 900;
const LOGIN = '/api/login';
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

export interface ViewerOptions {
  /** Address to listen on; any but loopback needs a token. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Its address behind a proxy. */
  readonly publicUrl?: string | undefined;
  /** Folder of the dashboards; SQL of another than Chancery's own is run only as a user that can do nothing but read. */
  readonly dashboards: string;
  /** Chancery's databases, which the user of the viewer may read. */
  readonly databases: readonly string[];
  readonly connect: ConnectReader;
  /** HTTP interface of an embedded ClickHouse that runs, whose web console pages on loopback open; undefined: of none. */
  readonly consoleUrl?: () => Promise<string | undefined>;
  /** The token without which no data is sent; undefined: anyone who reaches the port may read. */
  readonly token?: string | undefined;
  /** What the query of a panel may take; 30 unless given. */
  readonly maxQuerySeconds?: number;
  /** What a client has to read an answer of more than 1 MB, milliseconds; 10,000 unless given. */
  readonly readWithinMs?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: ViewerMetrics;
}

export interface ViewerMetrics {
  readonly queries: Counter<'outcome'>;
  readonly refused: Counter;
}

const MAX_EXPORTS = 2;

const chosen = z.record(z.string().max(100), z.array(z.string().max(1000)).max(1000));
const viewRequest = z.strictObject({
  from: z.string().max(40),
  to: z.string().max(40),
  variables: chosen,
  refreshMs: z.number().min(0).max(86_400_000),
});
const panelRequest = viewRequest.extend({
  width: z.number().min(1).max(100_000),
  scope: z.record(z.string().max(100), z.string().max(1000)).optional(),
});

const drawnRequest = panelRequest.extend({ nowMs: z.int().min(0).optional() });

const exportRequest = drawnRequest.extend({
  format: z.enum(['csv', 'parquet']),
  refId: z.string().max(40).optional(),
});
const consoleRequest = z.strictObject({
  /** The JSON of a panel request. */
  request: z.string().max(MAX_BODY_BYTES),
  /** Number of the panel's statement, from 0. */
  statement: z.coerce.number().int().min(0).max(100),
});
const EXPORT_TYPES = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' } as const;

/** The status of a request that is refused, with what the page shows. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Serves the page and the data of its panels. */
export class ViewerServer implements Component {
  readonly name = 'viewer';
  readonly #app: FastifyInstance;
  readonly #database: ReaderDatabase;
  readonly #pool: QueryPool;
  readonly #queries: DashboardQueries;
  readonly #firstPage: FirstPage;
  readonly #login: Login | undefined;
  readonly #streams: StateStreams;
  readonly #unread: UnreadAnswers;
  #exports = 0;
  #page: ReadonlyMap<string, PageFile> = new Map();
  #folder: DashboardFolder = { dashboards: new Map(), problems: [] };
  #names: OwnNames;
  #port = 0;

  constructor(private readonly options: ViewerOptions) {
    const nowMs = () => options.clock.nowMs();
    this.#database = new ReaderDatabase(options.connect, options.maxQuerySeconds ?? MAX_QUERY_S);
    this.#pool = new QueryPool({ queries: MAX_QUERIES, refreshes: MAX_REFRESHES, keptBytes: MAX_KEPT_BYTES }, nowMs);
    const isForeign = resolve(options.dashboards) !== resolve(dashboardFolder());
    const grants = isForeign ? new ReaderGrants(this.#database, options.databases) : undefined;
    this.#queries = new DashboardQueries(this.#database, this.#pool, nowMs, grants);
    this.#firstPage = new FirstPage(this.#database, this.#pool);
    this.#login = options.token === undefined ? undefined : new Login(options.token, nowMs, this.#isEncrypted);
    this.#names = new OwnNames(options.host, options.port, options.publicUrl);
    this.#streams = new StateStreams(randomBytes(8).toString('hex'), (signal) =>
      recordingState(this.#database, this.#pool, signal, STREAM_KEPT_MS),
    );
    const readWithinMs = options.readWithinMs ?? READ_WITHIN_MS;
    this.#unread = new UnreadAnswers(MAX_UNREAD_BYTES, MAX_CLIENT_UNREAD_BYTES, readWithinMs);
    this.#app = this.#createApp();
  }

  /** Once started. */
  get url(): string {
    const { host, publicUrl } = this.options;
    const name = ANY_ADDRESS.has(host) ? '127.0.0.1' : host;
    return publicUrl ?? `http://${isIP(name) === 6 ? `[${name}]` : name}:${this.#port}`;
  }

  /** Once started. */
  get port(): number {
    return this.#port;
  }

  /** Number of queries that ClickHouse is running. */
  get running(): number {
    return this.#pool.running;
  }

  /** Number of browsers that follow the state of recording. */
  get streams(): number {
    return this.#streams.count;
  }

  /** Bytes of answers that clients have not read yet. */
  get unread(): number {
    return this.#unread.bytes;
  }

  async start(): Promise<void> {
    this.#assertGuarded();
    this.#page = readPage();
    this.#folder = readDashboardFolder(this.options.dashboards);
    for (const { file, reason } of this.#folder.problems) this.options.log.warn(`${file} is not shown: ${reason}`);
    const { host, port, publicUrl } = this.options;
    try {
      await this.#app.listen({ host, port });
    } catch (error) {
      throw listenError(error as Error, { host, port, hostFlag: '--viewer-host', portFlag: '--viewer-port' });
    }
    this.#app.server.maxConnections = MAX_CONNECTIONS;
    this.#port = (this.#app.server.address() as AddressInfo).port;
    this.#names = new OwnNames(host, this.#port, publicUrl);
  }

  async stop(): Promise<void> {
    this.#streams.stop();
    await this.#app.close();
    await this.#database.close();
  }

  get #isEncrypted(): boolean {
    return this.options.publicUrl?.startsWith('https:') === true;
  }

  #assertGuarded(): void {
    const { host, token, log } = this.options;
    if (isLoopback(host)) return;
    if (token === undefined)
      throw new UsageError(`the viewer does not listen on ${host} without its token; leave out --no-viewer-login`);
    if (!this.#isEncrypted)
      log.warn(
        'the data of the viewer and its token travel in clear text; use a proxy with TLS and --viewer-public-url',
      );
  }

  #createApp(): FastifyInstance {
    const app = Fastify({
      bodyLimit: MAX_BODY_BYTES,
      connectionTimeout: IDLE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      forceCloseConnections: true,
      exposeHeadRoutes: false,
      http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    });
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(SECURITY_HEADERS);
      const isData = request.url.startsWith('/api/');
      const refusal = isData ? this.#names.dataRefusal(request.headers) : this.#names.pageRefusal(request.headers);
      if (refusal !== undefined) {
        this.options.metrics?.refused.inc();
        done(new Refusal(403, refusal));
      } else if (isData && request.url !== LOGIN && this.#login?.admits(request.headers.cookie) === false) {
        done(new Refusal(401, 'the viewer asks for its token'));
      } else done();
    });
    app.setErrorHandler((error, _request, reply) => this.#fail(error, reply));
    app.setNotFoundHandler((request, reply) => {
      reply.code(404);
      return isNavigation(request)
        ? reply.type('text/html; charset=utf-8').send(NOT_FOUND_PAGE)
        : reply.send({ error: 'there is nothing at this address' });
    });
    for (const [path, name] of PAGE_ROUTES) app.get(path, (request, reply) => this.#sendPage(name, request, reply));
    app.get('/api/dashboards', (_request, reply) => reply.header('cache-control', 'no-store').send(this.#list()));
    app.get('/api/state', (request, reply) =>
      this.#answer(request, reply, (signal) => recordingState(this.#database, this.#pool, signal)),
    );
    app.get('/api/stream', (request, reply) => this.#stream(request, reply));
    app.post('/api/events', (request, reply) =>
      this.#answer(request, reply, (signal) => this.#firstPage.events(parsed(firstPageRequest, request.body), signal)),
    );
    app.get('/api/movers', (request, reply) =>
      this.#answer(request, reply, (signal) => this.#firstPage.movers(signal)),
    );
    app.get('/api/dashboards/:uid', (request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .send(pageDashboard(this.#dashboard(request), [...this.#folder.dashboards.values()])),
    );
    app.post(LOGIN, (request, reply) => this.#logIn(request, reply));
    this.#addQueryRoutes(app);
    return app;
  }

  #addQueryRoutes(app: FastifyInstance): void {
    app.post('/api/dashboards/:uid/variables', (request, reply) =>
      this.#answer(request, reply, (signal) =>
        this.#queries.variables(this.#dashboard(request), parsed(viewRequest, request.body), signal),
      ),
    );
    app.post('/api/dashboards/:uid/annotations', (request, reply) =>
      this.#answer(request, reply, (signal) =>
        this.#queries.annotations(this.#dashboard(request), parsed(viewRequest, request.body), signal),
      ),
    );
    app.post('/api/dashboards/:uid/panels/:panel/export', (request, reply) => this.#export(request, reply));
    app.get('/api/dashboards/:uid/panels/:panel/console', (request, reply) => this.#openConsole(request, reply));
    for (const part of ['data', 'sql'] as const) {
      app.post(`/api/dashboards/:uid/panels/:panel/${part}`, (request, reply) =>
        this.#answer(request, reply, async (signal) => {
          const dashboard = this.#dashboard(request);
          const panel = this.#panel(dashboard, request);
          if (part === 'data') return this.#queries.panel(dashboard, panel, parsed(panelRequest, request.body), signal);
          const body = parsed(drawnRequest, request.body);
          const statements = await this.#queries.statements(dashboard, panel, body, signal);
          return { statements, hasConsole: (await this.#consoleUrl()) !== undefined };
        }),
      );
    }
  }

  /** Answers with the result of a query, which is cancelled when the client leaves. */
  async #answer(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<FastifyReply> {
    const left = new AbortController();
    const onClose = () => left.abort(new Refusal(499, 'the client has left'));
    request.raw.socket.once('close', onClose);
    const { metrics } = this.options;
    try {
      const result = await work(left.signal);
      metrics?.queries.inc({ outcome: 'done' });
      reply.header('cache-control', 'no-store');
      return result instanceof Readable ? reply.send(result) : await this.#send(request, reply, result);
    } catch (error) {
      metrics?.queries.inc({ outcome: left.signal.aborted ? 'cancelled' : 'failed' });
      throw error;
    } finally {
      request.raw.socket.removeListener('close', onClose);
    }
  }

  /** Sends a result as JSON to a client that reads it. */
  async #send(request: FastifyRequest, reply: FastifyReply, result: unknown): Promise<FastifyReply> {
    const { body, encoding } = await answerBody(result, request.headers);
    if (!this.#unread.add(reply.raw, body))
      throw new Refusal(503, 'too many clients have not read their answers yet; ask again');
    if (encoding) reply.header('content-encoding', encoding);
    return reply.header('vary', 'accept-encoding').type('application/json; charset=utf-8').send(body);
  }

  /** The state of recording as server-sent events, until the browser leaves. */
  #stream(request: FastifyRequest, reply: FastifyReply): void {
    if (this.#streams.isFull) throw new Refusal(503, 'too many browsers follow the viewer; it is asked again');
    const headers = { ...SECURITY_HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
    reply.hijack();
    reply.raw.writeHead(200, headers);
    const lastEventId = request.headers['last-event-id'];
    this.#streams.add(reply.raw, typeof lastEventId === 'string' ? lastEventId : undefined);
  }

  /** Sends the complete result of a panel's query as a file, two at a time. */
  #export(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const dashboard = this.#dashboard(request);
    const panel = this.#panel(dashboard, request);
    const body = parsed(exportRequest, request.body);
    if (this.#exports >= MAX_EXPORTS) throw new Refusal(429, `${MAX_EXPORTS} downloads are running; wait for one`);
    this.#exports++;
    const left = new AbortController();
    onceClosed(reply.raw, () => left.abort(new Refusal(499, 'the client has left')));
    return this.#answer(request, reply, async () => {
      const asked = this.#queries.export(dashboard, panel, body, left.signal);
      // When the client has left, its query may still be ending.
      void asked
        .then(({ ended }) => ended)
        .catch(() => undefined)
        .finally(() => this.#exports--);
      const { stream } = await asked;
      const name = `${dashboard.uid}-${panel.id}.${body.format}`;
      reply.type(EXPORT_TYPES[body.format]).header('content-disposition', `attachment; filename="${name}"`);
      this.#unread.follow(reply.raw);
      return stream;
    });
  }

  /** Only a browser on this machine reaches the port of an embedded ClickHouse. */
  async #consoleUrl(): Promise<string | undefined> {
    const { host, publicUrl, consoleUrl } = this.options;
    return isLoopback(host) && publicUrl === undefined ? consoleUrl?.() : undefined;
  }

  /** Sends the browser to ClickHouse's web console with a statement of a panel; it asks for the password of the reader. */
  async #openConsole(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const url = await this.#consoleUrl();
    if (url === undefined) throw new Refusal(404, 'there is no console; copy the SQL');
    const dashboard = this.#dashboard(request);
    const panel = this.#panel(dashboard, request);
    const { request: json, statement } = parsed(consoleRequest, request.query);
    const body = parsed(drawnRequest, jsonOf(json));
    const left = new AbortController();
    onceClosed(reply.raw, () => left.abort(new Refusal(499, 'the client has left')));
    const sql = (await this.#queries.statements(dashboard, panel, body, left.signal))[statement];
    if (sql === undefined) throw new Refusal(404, 'the panel has no such statement');
    const encoded = Buffer.from(sql, 'utf8').toString('base64');
    return reply.header('cache-control', 'no-store').redirect(`${url}/play?user=reader#${encoded}`, 303);
  }

  #logIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { token } = parsed(z.strictObject({ token: z.string().max(200) }), request.body);
    const session = this.#login?.open(token) ?? 'wrong';
    if (session === 'wrong') throw new Refusal(401, 'this is not the token of the viewer');
    if (session === 'wait') throw new Refusal(429, 'too many wrong tokens; wait a minute');
    return reply.header('set-cookie', session.cookie).code(200).send({});
  }

  #fail(error: unknown, reply: FastifyReply): FastifyReply {
    const status = statusOf(error);
    if (status === 500) this.options.log.error(`a request failed: ${describeError(error)}`);
    return reply.code(status).send({ error: status === 500 ? 'the viewer failed; see its log' : describeError(error) });
  }

  #sendPage(name: PageFileName, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const file = this.#page.get(name);
    if (!file) return reply.code(404).send();
    reply.header('etag', file.etag).header('cache-control', 'no-cache').type(file.type);
    return request.headers['if-none-match'] === file.etag ? reply.code(304).send() : reply.send(file.body);
  }

  #list() {
    const dashboards = [...this.#folder.dashboards.values()].map(({ uid, title, description, tags, panels }) => ({
      uid,
      title,
      description: description ?? '',
      tags,
      panels: panels.filter(({ type }) => type !== 'row').length,
    }));
    return { dashboards, problems: this.#folder.problems };
  }

  #dashboard(request: FastifyRequest): ViewedDashboard {
    const { uid = '' } = request.params as { uid?: string };
    const found = this.#folder.dashboards.get(uid);
    if (!found) throw new Refusal(404, 'there is no such dashboard');
    return found;
  }

  #panel(dashboard: ViewedDashboard, request: FastifyRequest): ViewedPanel {
    const { panel = '' } = request.params as { panel?: string };
    const found = dashboard.panels.find(({ id }) => String(id) === panel);
    if (!found) throw new Refusal(404, 'the dashboard has no such panel');
    return found;
  }
}

const PAGE_ROUTES: readonly (readonly [path: string, file: PageFileName])[] = [
  ['/', 'index.html'],
  ['/d/:uid', 'index.html'],
  ['/d/:uid/:slug', 'index.html'],
  ['/app.js', 'app.js'],
  ['/stream-worker.js', 'stream-worker.js'],
  ['/app.css', 'app.css'],
  ['/icon.svg', 'icon.svg'],
];

/** Whether a browser opens a page, and no program asks for data. */
const isNavigation = ({ url, headers }: FastifyRequest): boolean =>
  !url.startsWith('/api/') && headers.accept?.includes('text/html') === true;

/** Undefined where it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Refusal(400, `the request is not valid: ${issue?.path.join('.')}: ${issue?.message}`);
}

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  if (error instanceof UsageError || error instanceof QueryError) return 400;
  if (error instanceof UnavailableError) return 503;
  const { statusCode } = error as { statusCode?: number };
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? statusCode : 500;
}
