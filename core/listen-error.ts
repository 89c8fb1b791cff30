import { UsageError } from './errors.js';

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostFlag: string;
  readonly portFlag: string;
}

/** The error of a server that cannot listen on the address that two flags give it. */
export function listenError(cause: NodeJS.ErrnoException, { host, port, hostFlag, portFlag }: ListenAddress): Error {
  if (cause.code === 'EADDRINUSE') {
    return new UsageError(`port ${port} on ${host} is taken; choose another with ${portFlag}, or 0 for a free one`);
  }
  const known = ['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(cause.code ?? '');
  return known
    ? new UsageError(`cannot listen on ${host}:${port} (${cause.code}); choose another ${hostFlag} or ${portFlag}`)
    : cause;
}
