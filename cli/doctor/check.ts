/** What one check of `chancery doctor` found. */
export interface Finding {
  /** `warn`: works, but will not for long or not well. */
  readonly state: 'ok' | 'warn' | 'fail';
  /** One line: what was found. */
  readonly found: string;
  /** How to mend it, when it is not ok. */
  readonly mend?: string;
}

export interface Check {
  readonly name: string;
  readonly run: () => Promise<Finding>;
}

export const ok = (found: string): Finding => ({ state: 'ok', found });
export const warn = (found: string, mend: string): Finding => ({ state: 'warn', found, mend });
export const fail = (found: string, mend: string): Finding => ({ state: 'fail', found, mend });
