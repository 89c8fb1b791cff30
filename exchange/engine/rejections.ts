import type { RejectionCode, Result } from './core.js';

/** A valid command, or why the request was rejected. */
export type Checked<C> = { readonly ok: true; readonly command: C } | Refused;
export type Refused = Extract<Result<never>, { ok: false }>;

/** @param message for the user: what is wrong, with the value */
export function refuse(code: RejectionCode, message: string): Refused {
  const missing = code.startsWith('unknown-') && code !== 'unknown-asset';
  return { ok: false, rejection: { kind: missing ? 'not-found' : 'invalid', code, message } };
}

export const isRefused = (value: object): value is Refused => 'rejection' in value;
