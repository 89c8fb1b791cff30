type Request = Readonly<Record<string, unknown>>;

/** A text that `req` says, when it does and it is not empty. */
export function textIn(req: Request, name: string): string | undefined {
  const value = req[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number that `req` says, when it does. */
export function numberIn(req: Request, name: string): number | undefined {
  const value = req[name];
  return typeof value === 'number' ? value : undefined;
}

/**
 * Whether the answer was an error of the exchange, or did not come whole: it says nothing about the market, and its
 * poll's receipt tells whether asking again brought what it lacks.
 */
export function isFailedAnswer(req: Request): boolean {
  const status = numberIn(req, 'status');
  return textIn(req, 'cut') !== undefined || (status !== undefined && (status < 200 || status > 299));
}
