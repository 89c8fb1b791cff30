import type { AnnotationData } from '../dashboard-queries.js';
import type { LinkContext } from '../display/address.js';
import type { Theme } from '../display/colors.js';
import type { FieldConfig } from '../display/fields.js';
import type { Frame } from '../frames.js';
import type { PagePanel } from '../page-model.js';

/** What a panel draws, and what happens in it. */
export interface PanelContext {
  readonly panel: PagePanel;
  readonly config: FieldConfig;
  readonly frames: readonly Frame[];
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly nowMs: number;
  readonly bucketMs: number;
  readonly annotations: readonly AnnotationData[];
  readonly theme: Theme;
  /** Names of the series that the reader has switched off; kept while the page is open. */
  readonly hiddenSeries: Set<string>;
  /** Kept while the page is open. */
  readonly tableOrder: TableOrder;
  /** For data links. */
  readonly links: LinkContext;
  readonly onZoom: (from: number, to: number) => void;
  readonly navigate: (href: string) => void;
}

/** The column by which the reader or the panel's file has sorted a table; without one, it is in the order of the query. */
export interface TableOrder {
  by?: { readonly column: string; readonly descending: boolean } | undefined;
}

/** A drawn panel; `destroy` releases what it holds. */
export interface Drawn {
  readonly element: HTMLElement;
  /** Shown beside the title. */
  readonly note?: string;
  /** Called when the element is in the page, and when its size has changed. */
  readonly resize?: (width: number, height: number) => void;
  readonly destroy?: () => void;
}
