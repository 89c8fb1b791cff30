/** The result of one check of `chancery doctor`. */
export interface Finding {
  /** `warn`: works now, but needs attention. */
  readonly state: 'ok' | 'warn' | 'fail';
  /** One line: what was found. */
  readonly found: string;
  /** What to do, if not ok. */
  readonly fix?: string;
}

export interface Check {
  readonly name: string;
  readonly run: () => Promise<Finding>;
}

export const ok = (found: string): Finding => ({ state: 'ok', found });
export const warn = (found: string, fix: string): Finding => ({ state: 'warn', found, fix });
export const fail = (found: string, fix: string): Finding => ({ state: 'fail', found, fix });
