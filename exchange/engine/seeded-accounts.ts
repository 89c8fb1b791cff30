import { Random } from '../../core/index.js';
import type { OpenAccountCommand, SeededAs } from './commands.js';
import type { SeededAccount } from './core.js';
import type { Ids } from './ids.js';
import { hashPassword } from './passwords.js';
import type { State } from './state.js';
import { MICROS } from './units.js';

const DEPOSIT: Record<SeededAs, number> = { account: 10_000 * MICROS, bot: 1_000_000 * MICROS };
/** Each kind of account has its own range of key numbers. */
const FIRST_KEY: Record<SeededAs, number> = { account: 0, bot: 1_000_000 };

/** The command that opens the `index`-th account of a kind, derived from the seed. */
export function seededAccountCommand(
  seed: number,
  ids: Ids,
  as: SeededAs,
  index: number,
  at: number,
): OpenAccountCommand {
  const random = new Random(seed, `${as}/${index}`);
  const salt = bytes(random, 16);
  const key = `pk_${bytes(random, 18).toString('hex')}`;
  const secret = bytes(random, 32).toString('base64url');
  return {
    do: 'open-account',
    at,
    email: `${as}-${index + 1}@exchange.example`,
    username: as === 'bot' ? `bot-${index + 1}` : null,
    passwordHash: hashPassword(passwordOf(seed, as, index), salt),
    otp: false,
    deposit: DEPOSIT[as],
    apiKey: { id: ids.id('apiKey', FIRST_KEY[as] + index), key, secret, createdAt: at, expiresAt: null },
    seededAs: as,
  };
}

/** The first `count` accounts of a kind, with their current credentials. */
export function seededAccounts(state: State, as: SeededAs, count: number): SeededAccount[] {
  return state.seeded[as].slice(0, count).map((number, index) => {
    const { userId, email, credentials } = state.accountAt(number);
    const password = passwordOf(state.seed, as, index);
    const { apiKey } = credentials;
    return { userId, email, password, apiKey: apiKey?.key ?? '', apiSecret: apiKey?.secret ?? '' };
  });
}

function passwordOf(seed: number, as: SeededAs, index: number): string {
  return bytes(new Random(seed, `password/${as}/${index}`), 12).toString('base64url');
}

function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)));
}
