import { UsageError } from '../core/index.js';
import type { QueryStream } from './cancelled-query.js';
import type { ViewedAnnotation, ViewedDashboard, ViewedPanel, ViewedTarget } from './dashboard-file.js';
import { type ExportFormat, QueryError, type QueryResult, type ReaderDatabase, TooManyRowsError } from './database.js';
import { type Frame, frameOf } from './frames.js';
import { LiveIntervals } from './live-intervals.js';
import {
  type BoundQuery,
  bindQuery,
  expandQuery,
  type QueryContext,
  type VariableChoice,
  withLiterals,
} from './panel-query.js';
import type { QueryPool } from './query-pool.js';
import type { ReaderGrants } from './reader-grants.js';
import { isReducible, POINTS_PER_COLUMN, reducedQuery } from './reduction.js';
import { panelTime } from './time-override.js';
import { bucketMs, intervalMs, relativeRange, type TimeRange } from './time-range.js';
import { VariablePatterns } from './variable-options.js';
import { type ChosenValues, foreignValue, type ResolvedVariable, resolveVariables } from './variables.js';

/** What the browser asks of a dashboard: never SQL. */
export interface ViewRequest {
  readonly from: string;
  readonly to: string;
  readonly variables: ChosenValues;
  /** Refresh interval, milliseconds: equal requests within it are one query. */
  readonly refreshMs: number;
}

export interface PanelRequest extends ViewRequest {
  /** Width of the panel in pixels. */
  readonly width: number;
  /** Of a repeated panel: its values of the variables over which it and its row are repeated. */
  readonly scope?: Readonly<Record<string, string>> | undefined;
}

/** What was drawn: the complete result and the statements belong to it. */
export interface DrawnRequest extends PanelRequest {
  /** `now` of the drawn data, Unix milliseconds; undefined where nothing is drawn. */
  readonly nowMs?: number | undefined;
}

export interface ExportRequest extends DrawnRequest {
  readonly format: ExportFormat;
  readonly refId?: string | undefined;
}

/** An annotation of a dashboard, by name and color, with its rows in the range of the view. */
export interface AnnotationData {
  readonly name: string;
  readonly color: string;
  /** Columns `time`, `timeEnd` and `text` are drawn. */
  readonly frame?: Frame | undefined;
  /** Why it has no rows. */
  readonly problem?: string;
}

/** The data of a panel. */
export interface PanelData {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  /** What `now` in the range means. */
  readonly nowMs: number;
  /** The panel's own time, for its head; empty where it has the dashboard's. */
  readonly timeText: string;
  /** Width of one bucket, milliseconds. */
  readonly bucketMs: number;
  /** After which other data is expected, milliseconds; 0 where the dashboard is not refreshed. */
  readonly refreshMs: number;
  readonly frames: readonly Frame[];
}

/** The context of a query, and the part of its key that tells its time range from others. */
interface AskContext extends QueryContext {
  readonly rangeKey: readonly unknown[];
  /** Length of the slice of time in which the query is asked once, milliseconds. */
  readonly sliceMs: number;
}

interface AskOptions {
  /** Width to which the result is reduced. */
  readonly columns?: number | undefined;
  /** Called with the time of the query, milliseconds. */
  readonly onMeasured?: (ms: number) => void;
}

interface PanelContext extends AskContext {
  readonly nowMs: number;
  readonly timeText: string;
  /** Width of the panel in pixels, rounded up. */
  readonly columns: number;
}

/** A dashboard's variables and time range, resolved at one time. */
interface ResolvedView {
  readonly resolved: readonly ResolvedVariable[];
  readonly choices: ReadonlyMap<string, VariableChoice>;
  readonly range: TimeRange;
  readonly now: Date;
  /** The error message for a value that is not an option; undefined if all values are options. */
  readonly foreign: string | undefined;
}

/** The widths of panels are rounded up to one of these, so that panels of similar width share a query. */
const WIDTHS = [300, 600, 1200, 2400];
/** How long the options of a variable are kept, milliseconds. */
const OPTIONS_MS = 10_000;
/** Maximum number of resolved views that are kept. */
const MAX_VIEWS = 20;
const MIN_SLICE_MS = 1000;
const MAX_SLICE_MS = 60_000;

/** Time is cut into slices as long as the refresh interval: the requests of one slice have one `now` and one result. */
const sliceOf = ({ refreshMs }: ViewRequest): number => Math.min(MAX_SLICE_MS, Math.max(MIN_SLICE_MS, refreshMs));
/** Macros of the plugin: all but this one depend on the time range. */
const TIME_MACRO = /\$\{?__(?!conditionalAll)/;

/** Runs the queries of dashboards, as their files have them. */
export class DashboardQueries {
  readonly #patterns: VariablePatterns;
  /** SQL of files whose last result had more rows than its panel can draw. */
  readonly #large = new Set<string>();
  /** The latest data of a panel that has this frame first. */
  readonly #data = new WeakMap<Frame, PanelData>();
  readonly #live: LiveIntervals;
  readonly #views = new Map<string, { readonly view: ResolvedView; readonly untilMs: number }>();

  constructor(
    private readonly database: ReaderDatabase,
    private readonly pool: QueryPool,
    private readonly nowMs: () => number,
    /** Given for dashboards that are not Chancery's own. */
    private readonly grants?: ReaderGrants,
  ) {
    this.#patterns = new VariablePatterns(nowMs);
    this.#live = new LiveIntervals(nowMs);
  }

  /** The variables with options and values; values that are no options are replaced by the default. */
  async variables(
    dashboard: ViewedDashboard,
    request: ViewRequest,
    signal: AbortSignal,
  ): Promise<readonly ResolvedVariable[]> {
    return (await this.#resolve(dashboard, request, signal, sliceOf(request))).resolved;
  }

  /**
   * @throws UsageError when a value is not one of its variable's options, or the panel cannot be drawn
   */
  async panel(
    dashboard: ViewedDashboard,
    panel: ViewedPanel,
    request: PanelRequest,
    signal: AbortSignal,
  ): Promise<PanelData> {
    const live = isLive(panel, request) ? `${dashboard.uid} ${panel.id}` : undefined;
    const liveMs = live === undefined ? request.refreshMs : this.#live.intervalMs(live, request.refreshMs);
    const slice = liveMs < request.refreshMs ? liveMs : sliceOf(request);
    const context = await this.#context(dashboard, panel, request, signal, slice);
    const shown = panel.targets.filter(({ hide }) => hide !== true);
    const columns = isReducible(panel) ? context.columns : undefined;
    const onMeasured = (ms: number) => live !== undefined && this.#live.measured(live, ms);
    const frames = await Promise.all(
      shown.map((target) => this.#ask(dashboard, target, isSeries(target), context, signal, { columns, onMeasured })),
    );
    const { range, nowMs, timeText, bucketMs } = context;
    const refreshMs = live === undefined ? request.refreshMs : this.#live.nextMs(live, request.refreshMs);
    const [from, to] = [range.from.getTime(), range.to.getTime()];
    return this.#shared({ from, to, nowMs, timeText, bucketMs, refreshMs, frames });
  }

  /** Equal data is one object, so that it is encoded once for all viewers. */
  #shared(data: PanelData): PanelData {
    const [first] = data.frames;
    if (!first) return data;
    const known = this.#data.get(first);
    if (known && isSame(known, data)) return known;
    this.#data.set(first, data);
    return data;
  }

  /** The statements of a panel, with literals in place of parameters. */
  async statements(
    dashboard: ViewedDashboard,
    panel: ViewedPanel,
    request: DrawnRequest,
    signal: AbortSignal,
  ): Promise<string[]> {
    const context = await this.#context(dashboard, panel, request, signal);
    return panel.targets.map(({ rawSql = '' }) => withLiterals(bindQuery(rawSql, context)));
  }

  /** The complete result of a panel's query, as a file; of a panel with several, the one with this reference. */
  async export(
    dashboard: ViewedDashboard,
    panel: ViewedPanel,
    { format, refId, ...request }: ExportRequest,
    signal: AbortSignal,
  ): Promise<QueryStream> {
    const context = await this.#context(dashboard, panel, request, signal);
    const target = panel.targets.find((one) => one.refId === (refId ?? panel.targets[0]?.refId));
    if (target?.rawSql === undefined) throw new UsageError('the panel has no such query');
    const query = bindQuery(target.rawSql, context);
    return this.pool.stream(signal, (abort) => this.database.export(query, format, abort));
  }

  /** What the dashboard's annotations have to draw. */
  annotations(dashboard: ViewedDashboard, request: ViewRequest, signal: AbortSignal): Promise<AnnotationData[]> {
    const shown = dashboard.annotations.list.filter(({ enable, target }) => enable && target?.rawSql !== undefined);
    return Promise.all(shown.map((one) => this.#annotation(dashboard, one, request, signal)));
  }

  async #annotation(
    dashboard: ViewedDashboard,
    annotation: ViewedAnnotation,
    request: ViewRequest,
    signal: AbortSignal,
  ): Promise<AnnotationData> {
    const about = { name: annotation.name, color: annotation.iconColor };
    try {
      return { ...about, frame: await this.#annotationRows(dashboard, annotation, request, signal) };
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof QueryError)) throw error;
      return { ...about, problem: error.message };
    }
  }

  async #annotationRows(
    dashboard: ViewedDashboard,
    { target }: ViewedAnnotation,
    request: ViewRequest,
    signal: AbortSignal,
  ): Promise<Frame | undefined> {
    if (target?.rawSql === undefined) return undefined;
    const sliceMs = sliceOf(request);
    const { choices, range } = await this.#resolve(dashboard, request, signal, sliceMs, true);
    const context = { range, bucketMs: 1000, variables: choices, rangeKey: [request.from, request.to], sliceMs };
    return this.#ask(dashboard, target, false, context, signal);
  }

  async #context(
    dashboard: ViewedDashboard,
    panel: ViewedPanel,
    request: DrawnRequest,
    signal: AbortSignal,
    sliceMs = sliceOf(request),
  ): Promise<PanelContext> {
    if (panel.unsupported !== undefined) throw new UsageError(`the viewer does not support ${panel.unsupported}`);
    const { choices, now, ...dashboardTime } = await this.#resolve(dashboard, request, signal, sliceMs, true);
    const variables = scoped(choices, request.scope ?? {}, dashboard);
    const context = { range: dashboardTime.range, bucketMs: 1000, variables };
    const fill = (text: string | null | undefined) => (text ? expandQuery(text, context) : undefined);
    const own = { timeFrom: fill(panel.timeFrom), timeShift: fill(panel.timeShift) };
    const { range, text } = panelTime(own, { ...dashboardTime, isRelative: isRelative(request) }, now);
    const width = WIDTHS.find((one) => request.width <= one) ?? 2400;
    const minimum = panel.interval ? intervalMs(panel.interval.replace(/^>/, '')) : 1;
    return {
      range,
      nowMs: now.getTime(),
      timeText: panel.hideTimeOverride === true ? '' : text,
      bucketMs: bucketMs(range, panel.maxDataPoints ?? width, minimum),
      variables,
      columns: width,
      rangeKey: [request.from, request.to, own.timeFrom, own.timeShift],
      sliceMs,
    };
  }

  /**
   * `now` is the same for all requests of a slice of time, and so are the results of their queries.
   * @param strict whether a value that is not an option is an error
   */
  async #resolve(
    dashboard: ViewedDashboard,
    request: ViewRequest & Pick<DrawnRequest, 'nowMs'>,
    signal: AbortSignal,
    slice: number,
    strict = false,
  ) {
    await this.grants?.assertReadOnly();
    const nowMs = request.nowMs ?? Math.floor(this.nowMs() / slice) * slice;
    const { foreign, ...view } = await this.#view(dashboard, request, signal, nowMs);
    if (strict && foreign !== undefined) throw new UsageError(foreign);
    return view;
  }

  /** The range and the variables; those of equal requests are resolved once while their options are kept. */
  async #view(dashboard: ViewedDashboard, { from, to, variables }: ViewRequest, signal: AbortSignal, nowMs: number) {
    const key = JSON.stringify([dashboard.uid, from, to, variables, nowMs]);
    const known = this.#views.get(key);
    if (known && known.untilMs > this.nowMs()) return known.view;
    const untilMs = this.nowMs() + OPTIONS_MS;
    const now = new Date(nowMs);
    const range = relativeRange(from, to, now);
    const { resolved, choices } = await resolveVariables(dashboard, variables, range, {
      patterns: this.#patterns,
      ask: (query) =>
        this.pool
          .run(JSON.stringify(query), OPTIONS_MS, signal, (abort) => this.database.query(query, abort))
          .then(({ data }) => data),
    });
    const view: ResolvedView = { resolved, choices, range, now, foreign: foreignValue(resolved, variables) };
    for (const [old, { untilMs: end }] of this.#views) if (end <= this.nowMs()) this.#views.delete(old);
    if (this.#views.size < MAX_VIEWS) this.#views.set(key, { view, untilMs });
    return view;
  }

  #ask(
    { uid }: ViewedDashboard,
    { refId, rawSql = '' }: ViewedTarget,
    series: boolean,
    context: AskContext,
    signal: AbortSignal,
    { columns, onMeasured }: AskOptions = {},
  ): Promise<Frame> {
    const variables = [...context.variables].map(([name, { value }]) => [name, value]);
    const { rangeKey, bucketMs, range, sliceMs } = context;
    const key = JSON.stringify([uid, refId, rawSql, series, variables, rangeKey, bucketMs, columns, sliceMs]);
    const untilMs = (Math.floor(this.nowMs() / sliceMs) + 1) * sliceMs;
    return this.pool.run(key, { untilMs }, signal, async (abort) => {
      const query = bindQuery(rawSql, context);
      const startedAt = performance.now();
      const { timezone, ...result } =
        columns === undefined
          ? await this.database.query(query, abort)
          : await this.#fitting(rawSql, query, { range, columns }, abort);
      onMeasured?.(performance.now() - startedAt);
      return frameOf(refId, result, timezone, series);
    });
  }

  /** The complete result; where it has more rows than the panel can draw, those that change what is drawn. */
  async #fitting(
    rawSql: string,
    query: BoundQuery,
    { range, columns }: { readonly range: TimeRange; readonly columns: number },
    signal: AbortSignal,
  ): Promise<QueryResult> {
    const whole = this.#large.has(rawSql) ? undefined : await this.#unlessTooLarge(query, signal);
    if (whole && whole.data.length <= POINTS_PER_COLUMN * columns) return whole;
    try {
      const meta = whole?.meta ?? (await this.database.columns(query, signal));
      const reduced = reducedQuery(query, meta, range, columns);
      if (reduced) {
        const result = await this.database.query(reduced, signal);
        this.#large.add(rawSql);
        return result;
      }
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
    }
    return whole ?? this.database.query(query, signal);
  }

  async #unlessTooLarge(query: BoundQuery, signal: AbortSignal): Promise<QueryResult | undefined> {
    try {
      return await this.database.query(query, signal);
    } catch (error) {
      if (error instanceof TooManyRowsError) return undefined;
      throw error;
    }
  }
}

/** Versions of the plugin differ in how they write the type. */
const isSeries = ({ queryType, format }: ViewedTarget): boolean =>
  queryType?.toLowerCase() === 'timeseries' || format === 0 || format === 'time_series';

const isRelative = ({ from, to }: ViewRequest): boolean => from.startsWith('now') || to.startsWith('now');

/** Whether the panel shows the present: its queries do not depend on the time range. */
const isLive = ({ targets }: ViewedPanel, { to, refreshMs }: ViewRequest): boolean =>
  refreshMs > 0 && to.startsWith('now') && targets.every(({ rawSql = '' }) => !TIME_MACRO.test(rawSql));

const isSame = (a: PanelData, b: PanelData): boolean =>
  a.from === b.from &&
  a.to === b.to &&
  a.nowMs === b.nowMs &&
  a.timeText === b.timeText &&
  a.bucketMs === b.bucketMs &&
  a.refreshMs === b.refreshMs &&
  a.frames.length === b.frames.length &&
  a.frames.every((frame, i) => frame === b.frames[i]);

/** The choices of a repetition. @throws UsageError for a value that is not an option of a variable of repetitions */
function scoped(
  choices: ReadonlyMap<string, VariableChoice>,
  scope: Readonly<Record<string, string>>,
  { panels }: ViewedDashboard,
): ReadonlyMap<string, VariableChoice> {
  const own = Object.entries(scope).map(([name, value]) => {
    const choice = choices.get(name);
    if (!panels.some(({ repeat }) => repeat === name)) throw new UsageError('no panel is repeated over this variable');
    if (!choice?.options.includes(value))
      throw new UsageError(`a value of the variable ${name} is not one of its options`);
    return [name, { ...choice, value }] as const;
  });
  return new Map([...choices, ...own]);
}
