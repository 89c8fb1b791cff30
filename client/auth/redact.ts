import type { Secret } from '../../core/index.js';

const REPLACEMENT = '[redacted]';
/** A shorter prefix of a secret reveals nothing, and may be a coincidence. */
const MIN_PREFIX_LENGTH = 4;

/** Removes our secrets from a text of the exchange. */
export function redactText(text: string, secrets: readonly Secret[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.reveal() !== '') clean = clean.replaceAll(secret.reveal(), REPLACEMENT);
  return clean;
}

/**
 * The same for a body: the bytes themselves unless they contain a secret.
 * @param truncated whether the body is truncated, and so may end with a prefix of a secret
 */
export function redactBytes(bytes: Buffer, secrets: readonly Secret[], truncated = false): Buffer {
  const found = secrets.some((secret) => secret.reveal() !== '' && bytes.includes(secret.reveal()));
  const clean = found ? Buffer.from(redactText(bytes.toString('latin1'), secrets), 'latin1') : bytes;
  return truncated ? withoutPrefix(clean, secrets) : clean;
}

/** A body without the prefix of a secret at its end. */
function withoutPrefix(bytes: Buffer, secrets: readonly Secret[]): Buffer {
  for (const secret of secrets) {
    const text = secret.reveal();
    for (let length = Math.min(text.length - 1, bytes.length); length >= MIN_PREFIX_LENGTH; length--) {
      const rest = bytes.length - length;
      if (bytes.subarray(rest).equals(Buffer.from(text.slice(0, length), 'latin1'))) {
        return Buffer.concat([bytes.subarray(0, rest), Buffer.from(REPLACEMENT)]);
      }
    }
  }
  return bytes;
}
