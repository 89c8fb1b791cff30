export { ForbiddenError, UnauthorizedError } from './access-errors.js';
export { AddressError } from './address-error.js';
export { HttpStatusError } from './http-status-error.js';
export { OutcomeUnknownError } from './outcome-unknown-error.js';
export { SchemaError } from './schema-error.js';
export { statusError } from './status-error.js';
export { StreamError } from './stream-error.js';
export { connectionErrorCode, TransportError, type TransportErrorCode } from './transport-error.js';
