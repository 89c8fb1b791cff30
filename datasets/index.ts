export { type ExportProgress, type ExportReport, exportTables } from './export.js';
export { EXPORT_FORMATS, type ExportFormat } from './formats.js';
export { committedPositions } from './positions.js';
export { assertDay } from './request.js';
export { ExportSource } from './source.js';
export { userKey } from './user-key.js';
