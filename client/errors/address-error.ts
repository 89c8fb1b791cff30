import { UsageError } from '../../core/index.js';

/** An address of the exchange that cannot be used: not a URL, not encrypted, or missing. */
export class AddressError extends UsageError {}
