import { z } from 'zod';
import type { Clock } from '../../../core/index.js';
import { type ExchangeCore, hashPassword, microsOf, type Result, type TransactionView } from '../../engine/index.js';
import { secondFactorOf } from '../auth/index.js';
import { HttpError } from '../errors.js';
import { MarketLookup, transactionRecord } from '../records/index.js';
import type { Route, RouteRequest } from '../route.js';
import { accepted, durable } from './accepted.js';
import { param, requiredText, secretText, validBody } from './validate.js';

const emailSchema = z
  .string()
  .regex(/^[^\s@]+@[^\s@]+$/, 'expected an email address')
  .max(254, 'expected an email address');
const openSchema = z.looseObject({
  email: emailSchema,
  password: secretText,
  usdc: z.number().min(0),
  otp: z.boolean().optional(),
});
const moveSchema = z.looseObject({ userId: z.string().min(1), amount: z.number().positive() });

interface ControlAccountRoutesOptions {
  readonly core: ExchangeCore;
  readonly clock: Clock;
  /** Called when an account's key was blocked. */
  readonly onKeyChanged: (userId: string) => void;
}

/** Control calls for accounts: open, mailbox, deposits, withdrawals, block. */
export function controlAccountRoutes({ core, clock, onKeyChanged }: ControlAccountRoutesOptions): readonly Route[] {
  const route = (method: Route['method'], path: string, handler: Route['handler']): Route => ({
    method,
    url: `/_control${path}`,
    access: 'control',
    handler,
  });
  const move = async (request: RouteRequest, by: (userId: string, micros: number) => Result<TransactionView>) => {
    const { userId, amount } = validBody(moveSchema, request.body);
    const transaction = await durable(core, by(userId, usdcMicros('amount', amount)));
    return transactionRecord(transaction, new MarketLookup(core));
  };
  return [
    route('POST', '/accounts', ({ body }) => open(core, body)),
    route('POST', '/accounts/:userId/block', async (request) => {
      const userId = param(request, 'userId');
      accepted(core.blockKey(userId));
      onKeyChanged(userId);
      await core.durable();
      return { userId, blocked: true };
    }),
    route('GET', '/mailbox', ({ query }) => {
      const account = core.accountByEmail(requiredText(query, 'email'));
      const code = account && core.credentials(account.userId)?.code;
      if (!code || clock.nowMicros() >= code.expiresAt) throw new HttpError(404, 'there is no code in this mailbox');
      return { code: code.code };
    }),
    route('POST', '/deposits', (request) => move(request, (userId, micros) => core.deposit(userId, micros))),
    route('POST', '/withdrawals', (request) => move(request, (userId, micros) => core.withdraw(userId, micros))),
  ];
}

async function open(core: ExchangeCore, body: unknown) {
  const { email, password, usdc, otp = false } = validBody(openSchema, body);
  const depositMicros = usdcMicros('usdc', usdc);
  const passwordHash = hashPassword(password);
  const { userId } = await durable(core, core.openAccount({ email, passwordHash, otp, depositMicros }));
  return { userId, ...(otp ? { otp: secondFactorOf({ passwordHash }) } : {}) };
}

/** @throws HttpError 400 when the amount is not a whole number of micros */
function usdcMicros(field: string, usdc: number): number {
  const micros = microsOf(usdc);
  if (micros === undefined) throw new HttpError(400, `${field}: must be a multiple of 0.000001, and not too large`);
  return micros;
}
