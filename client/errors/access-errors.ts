import { HttpStatusError } from './http-status-error.js';

/**
 * 401: the exchange rejected the credentials: a missing, wrong or revoked key, a wrong signature, a timestamp outside
 * the window, or a wrong or expired token (parts 5.1 and 7.2). Other credentials may be accepted.
 */
export class UnauthorizedError extends HttpStatusError {}

/**
 * 403: the credentials are valid but do not allow the operation: the key is permanently blocked, or the operation
 * requires a JWT (parts 5.1, 5.2 and 7.2).
 */
export class ForbiddenError extends HttpStatusError {}
