import type { Secret } from '../../core/index.js';

const INSTEAD = '[redacted]';
/** A beginning of a secret that is shorter than this gives nothing away, and may be there by chance. */
const LEAST_BEGINNING = 4;

/** A text of the exchange without our secrets, should it repeat one. */
export function redactText(text: string, secrets: readonly Secret[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.reveal() !== '') clean = clean.replaceAll(secret.reveal(), INSTEAD);
  return clean;
}

/**
 * The same for a body: the bytes themselves unless they hold a secret.
 * @param cut whether it is the beginning of a body, and so may end with the beginning of a secret
 */
export function redactBytes(bytes: Buffer, secrets: readonly Secret[], cut = false): Buffer {
  const found = secrets.some((secret) => secret.reveal() !== '' && bytes.includes(secret.reveal()));
  const clean = found ? Buffer.from(redactText(bytes.toString('latin1'), secrets), 'latin1') : bytes;
  return cut ? withoutBeginning(clean, secrets) : clean;
}

/** A body without the beginning of a secret at its end. */
function withoutBeginning(bytes: Buffer, secrets: readonly Secret[]): Buffer {
  for (const secret of secrets) {
    const text = secret.reveal();
    for (let length = Math.min(text.length - 1, bytes.length); length >= LEAST_BEGINNING; length--) {
      const rest = bytes.length - length;
      if (bytes.subarray(rest).equals(Buffer.from(text.slice(0, length), 'latin1'))) {
        return Buffer.concat([bytes.subarray(0, rest), Buffer.from(INSTEAD)]);
      }
    }
  }
  return bytes;
}
