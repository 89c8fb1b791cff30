/** The types of panels that the viewer draws, beside rows. */
export const PANEL_TYPES = [
  'timeseries',
  'candlestick',
  'barchart',
  'histogram',
  'state-timeline',
  'heatmap',
  'xychart',
  'stat',
  'gauge',
  'bargauge',
  'table',
  'text',
] as const;

export type PanelType = (typeof PANEL_TYPES)[number];

export const isPanelType = (type: string): type is PanelType => PANEL_TYPES.some((one) => one === type);
