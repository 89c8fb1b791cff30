export { dashboardFolder } from './dashboard-file.js';
export { ALL } from './display/variable-reference.js';
export { readToken } from './login.js';
export {
  bindQuery,
  expandQuery,
  type QueryContext,
  type VariableChoice,
  withLiterals,
} from './panel-query.js';
export { PANEL_TYPES } from './panel-types.js';
export { bucketMs, intervalMs, relativeRange } from './time-range.js';
export { customValues } from './variables.js';
export { type ViewerMetrics, type ViewerOptions, ViewerServer } from './viewer-server.js';
