export { type ExportProgress, type ExportReport, exportTables } from './export.js';
export { EXPORT_FORMATS, type ExportFormat } from './formats.js';
export { committedPositions } from './positions.js';
export { assertNoRelease, makeRelease, parseRelease, type ReleaseOptions } from './release/release.js';
export { assertDay, type ExportRequest } from './request.js';
export { ExportSource } from './source.js';
export { releaseKey, userKey } from './user-key.js';
