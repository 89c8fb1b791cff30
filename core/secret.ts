import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

/** A value that cannot be printed, logged or serialised by accident; only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}

/** 192 random bits, in characters that never need quoting. */
export const newPassword = (): string => randomBytes(24).toString('base64url');
