export {
  customValues,
  type Dashboard,
  type DashboardTarget,
  type DashboardVariable,
  dashboardFolder,
  loadDashboards,
  type Panel,
  panelsOf,
} from './dashboard.js';
export { ALL, expandQuery, type QueryContext, type VariableChoice } from './panel-query.js';
export { bucketMs, intervalMs, relativeRange, type TimeRange } from './time-range.js';
