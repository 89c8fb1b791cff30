import type { ViewedDashboard, ViewedLink, ViewedPanel } from './dashboard-file.js';
import type { Transformation } from './display/transformations.js';

/** A link as in the file: with variables. */
export interface PageLink {
  readonly title: string;
  readonly url: string;
  readonly keepTime: boolean;
  /** Whether the values of all variables are part of it. */
  readonly includeVars: boolean;
}

/** A panel as the page gets it: without its SQL. */
export interface PagePanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: ViewedPanel['fieldConfig'];
  readonly options: Readonly<Record<string, unknown>>;
  readonly transformations: readonly Transformation[];
  readonly collapsed: boolean;
  readonly links: readonly PageLink[];
  /** The variable of whose values each has a panel of its own. */
  readonly repeat?: { readonly variable: string; readonly isVertical: boolean; readonly maxPerRow: number };
  /** ID of the collapsed row that it is in. */
  readonly row?: number;
  readonly unsupported?: string;
}

/** A dashboard as the page gets it. */
export interface PageDashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly time: { readonly from: string; readonly to: string };
  readonly refresh: string;
  readonly refreshIntervals: readonly string[];
  readonly links: readonly PageLink[];
  readonly panels: readonly PagePanel[];
}

/** Grafana's own number of repetitions side by side. */
const MAX_PER_ROW = 4;
const INTERVALS = ['5s', '10s', '30s', '1m', '5m', '15m'];

/** @param all those that the viewer has, for links to those with a tag */
export function pageDashboard(dashboard: ViewedDashboard, all: readonly ViewedDashboard[]): PageDashboard {
  const { uid, title, description, time, refresh, timepicker, links, panels } = dashboard;
  return {
    uid,
    title,
    description: description ?? '',
    time: { from: time.from, to: time.to },
    refresh: typeof refresh === 'string' ? refresh : '',
    refreshIntervals: timepicker?.refresh_intervals ?? INTERVALS,
    links: links.flatMap((link) => (link.type === 'dashboards' ? taggedLinks(link, uid, all) : pageLink(link))),
    panels: panels.map(pagePanel),
  };
}

function pagePanel(panel: ViewedPanel): PagePanel {
  return {
    id: panel.id,
    type: panel.type,
    title: panel.title,
    description: panel.description ?? '',
    gridPos: { x: panel.gridPos.x, y: panel.gridPos.y, w: panel.gridPos.w, h: panel.gridPos.h },
    fieldConfig: panel.fieldConfig,
    options: panel.options,
    transformations: panel.transformations ?? [],
    collapsed: panel.collapsed === true,
    links: (panel.links ?? []).flatMap(pageLink),
    ...(panel.repeat ? { repeat: repeatOf(panel, panel.repeat) } : {}),
    ...(panel.row === undefined ? {} : { row: panel.row }),
    ...(panel.unsupported === undefined ? {} : { unsupported: panel.unsupported }),
  };
}

const repeatOf = ({ repeatDirection, maxPerRow }: ViewedPanel, variable: string) => ({
  variable,
  isVertical: repeatDirection === 'v',
  maxPerRow: Math.max(1, Math.floor(maxPerRow ?? MAX_PER_ROW)),
});

type DashboardLink = ViewedDashboard['links'][number];

/** A link to each other dashboard that has all tags of a link. */
function taggedLinks({ tags, ...link }: DashboardLink, own: string, all: readonly ViewedDashboard[]): PageLink[] {
  const tagged = all.filter(({ uid, tags: its }) => uid !== own && (tags ?? []).every((tag) => its.includes(tag)));
  return tagged.flatMap(({ uid, title }) => pageLink({ ...link, title, url: `/d/${uid}` }));
}

const pageLink = ({ title, url, keepTime, includeVars }: ViewedLink): PageLink[] =>
  typeof url === 'string' ? [{ title, url, keepTime: keepTime === true, includeVars: includeVars === true }] : [];
