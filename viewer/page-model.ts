import type { ViewedDashboard, ViewedPanel } from './dashboard-file.js';
import type { Transformation } from './display/transformations.js';

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
  readonly links: readonly { readonly title: string; readonly url: string; readonly keepTime: boolean }[];
  readonly panels: readonly PagePanel[];
}

const INTERVALS = ['5s', '10s', '30s', '1m', '5m', '15m'];

export function pageDashboard(dashboard: ViewedDashboard): PageDashboard {
  const { uid, title, description, time, refresh, timepicker, links, panels } = dashboard;
  return {
    uid,
    title,
    description: description ?? '',
    time: { from: time.from, to: time.to },
    refresh: typeof refresh === 'string' ? refresh : '',
    refreshIntervals: timepicker?.refresh_intervals ?? INTERVALS,
    links: links
      .filter(({ type, url }) => type === 'link' && typeof url === 'string')
      .map((link) => ({ title: link.title, url: link.url ?? '', keepTime: link.keepTime === true })),
    panels: panels.map((panel) => ({
      id: panel.id,
      type: panel.type,
      title: panel.title,
      description: panel.description ?? '',
      gridPos: { x: panel.gridPos.x, y: panel.gridPos.y, w: panel.gridPos.w, h: panel.gridPos.h },
      fieldConfig: panel.fieldConfig,
      options: panel.options,
      transformations: panel.transformations ?? [],
      collapsed: panel.collapsed === true,
      ...(panel.row === undefined ? {} : { row: panel.row }),
      ...(panel.unsupported === undefined ? {} : { unsupported: panel.unsupported }),
    })),
  };
}
