import { ChanceryError, describeError, IntegrityError, Stopped, UsageError } from '../core/index.js';

/**
 * Exit codes: done, failed, wrong usage or configuration, stopped because continuing would break a guarantee (an operator
 * has to decide), interrupted.
 */
export const EXIT = { done: 0, failed: 1, usage: 2, needsIntervention: 3, interrupted: 130 } as const;

/** System errors by code: what to do, and the exit code. */
const SYSTEM_ERRORS: Readonly<Record<string, readonly [advice: string, exitCode: number]>> = {
  ENOSPC: ['the disk is full: free some space or choose another folder with --data', EXIT.failed],
  EDQUOT: ['the disk quota is used up: free some space or choose another folder with --data', EXIT.failed],
  EMFILE: ['too many open files: raise the limit (ulimit -n)', EXIT.failed],
  ECONNREFUSED: ['connection refused: check with `chancery status` that it is running', EXIT.failed],
  EACCES: ['permission denied: change the owner of the folder or choose another with --data', EXIT.usage],
  EPERM: ['permission denied: change the owner of the folder or choose another with --data', EXIT.usage],
  EROFS: ['the disk is read-only: choose another folder with --data', EXIT.usage],
  ENOTDIR: ['a file is where a folder should be: choose another folder with --data', EXIT.usage],
  EEXIST: ['a file is where a folder should be: choose another folder with --data', EXIT.usage],
  EADDRINUSE: ['the port is taken: choose another, or 0 for a free one', EXIT.usage],
};

/** The message in one line and the exit code; `defect`: a bug, so print the stack trace as well. */
export function explain(error: unknown): { message: string; exitCode: number; defect: boolean } {
  const message = describeError(error);
  if (error instanceof Stopped) {
    return { message: `interrupted (${message})`, exitCode: EXIT.interrupted, defect: false };
  }
  if (error instanceof UsageError) return { message, exitCode: EXIT.usage, defect: false };
  if (error instanceof IntegrityError) return { message, exitCode: EXIT.needsIntervention, defect: false };
  if (error instanceof ChanceryError) return { message, exitCode: EXIT.failed, defect: false };
  const code = systemCode(error);
  const known = SYSTEM_ERRORS[code ?? ''];
  if (known) return { message: `${known[0]} (${message})`, exitCode: known[1], defect: false };
  return { message, exitCode: EXIT.failed, defect: code === undefined };
}

/** The `code` of a system error, also when another error wraps it. */
function systemCode(error: unknown): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const { code } = e as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return undefined;
}
