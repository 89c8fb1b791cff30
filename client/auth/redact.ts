import type { Secret } from '../../core/index.js';

const INSTEAD = '[redacted]';

/** A text of the exchange without our secrets, should it repeat one. */
export function redactText(text: string, secrets: readonly Secret[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.reveal() !== '') clean = clean.replaceAll(secret.reveal(), INSTEAD);
  return clean;
}

/** The same for a body: the bytes themselves unless they hold a secret. */
export function redactBytes(bytes: Buffer, secrets: readonly Secret[]): Buffer {
  const found = secrets.some((secret) => secret.reveal() !== '' && bytes.includes(secret.reveal()));
  return found ? Buffer.from(redactText(bytes.toString('latin1'), secrets), 'latin1') : bytes;
}
