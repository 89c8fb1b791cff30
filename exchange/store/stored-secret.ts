import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describeError, UsageError, writeFileAtomic } from '../../core/index.js';

const BYTES = 32;

/** Reads a random secret of 32 bytes from a file, or creates the file (mode 0600). @throws UsageError */
export async function readOrCreateSecret(path: string): Promise<Buffer> {
  try {
    const kept = await readIfThere(path);
    if (kept?.length === BYTES) return kept;
    if (kept) throw new UsageError(`${path} is damaged; remove it to get a new one, which ends all logins`);
    const secret = randomBytes(BYTES);
    await writeFileAtomic(path, secret, true);
    return secret;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot use ${path}: ${describeError(error)}`, { cause: error });
  }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
