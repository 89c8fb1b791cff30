import { UsageError } from '../../core/index.js';

/** An invalid address of the exchange: missing, not a URL, or not encrypted. */
export class AddressError extends UsageError {}
