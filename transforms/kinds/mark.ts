import { z } from 'zod';
import type { RecordOutput } from '../record/record-output.js';
import { type MarkRow, marks } from '../tables/marks.js';
import { polls } from '../tables/polls.js';
import type { Transform } from './transform.js';

const id = z.string().max(4096);
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Unix microseconds of the years 1970 to 2299. */
const micros = z.number().int().min(0).max(10_413_791_999_000_000);
const stream = { stream: id, connection: id };
const subscription = { ...stream, event: id };

/** Marks as `core/record.ts` describes them; a later version may say more. */
const markSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('session-started'), collector: id, version: id, shard: id }),
  z.looseObject({ type: z.literal('alive'), acked: z.record(id, count) }),
  z.looseObject({ type: z.literal('session-stopped'), cause: id }),
  z.looseObject({ type: z.literal('connected'), ...stream, url: id }),
  z.looseObject({ type: z.literal('disconnected'), ...stream, cause: id }),
  z.looseObject({ type: z.literal('subscribed'), ...subscription, markets: z.array(id) }),
  z.looseObject({ type: z.literal('unsubscribed'), ...subscription, cause: id }),
  z.looseObject({ type: z.literal('frozen'), ...subscription, since: micros, cause: id }),
  z.looseObject({ type: z.literal('quiet'), ...subscription }),
  z.looseObject({
    type: z.literal('repaired'),
    stream: id,
    event: id,
    market: id,
    from: micros,
    to: micros,
    poll: id,
  }),
  z.looseObject({
    type: z.literal('poll'),
    poll: id,
    operation: id,
    subject: id,
    startedAt: micros,
    expected: count.nullable(),
    got: count,
    unique: count,
    pages: count.max(0xffff_ffff),
    truncated: z.boolean(),
    outcome: z.enum(['complete', 'incomplete', 'failed']),
    cause: id,
  }),
]);
type ParsedMark = z.infer<typeof markSchema>;

/** What a collector says about its own sight → `marks`; the receipt of a poll → `polls`. */
export const transformMark: Transform = ({ record, body, bodyText }, output) => {
  const parsed = markSchema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    output.dead({ path: issue?.path.join('.') ?? '', reason: issue?.message ?? 'is not a mark' }, bodyText());
    return;
  }
  const mark = parsed.data;
  if (mark.type === 'poll') addPoll(mark, record.sid, record.at, output);
  else output.row(marks, { ...BLANK, ...fieldsOf(mark), markedAt: record.at, sid: record.sid, n: record.n });
};

const BLANK: MarkRow = {
  markedAt: 0,
  sid: '',
  n: 0,
  type: '',
  stream: '',
  connection: '',
  eventId: '',
  marketId: '',
  marketIds: [],
  since: null,
  from: null,
  to: null,
  poll: '',
  acked: {},
  collector: '',
  version: '',
  shard: '',
  url: '',
  cause: '',
};

function addPoll(mark: Extract<ParsedMark, { type: 'poll' }>, sid: string, finishedAt: number, output: RecordOutput) {
  const { poll, operation, subject, startedAt, expected, got, unique, pages, truncated, outcome, cause } = mark;
  const counts = { expected, got, unique, pages };
  output.row(polls, { sid, poll, operation, subject, startedAt, finishedAt, ...counts, truncated, outcome, cause });
}

function fieldsOf(mark: Exclude<ParsedMark, { type: 'poll' }>): Partial<MarkRow> & { readonly type: string } {
  const { type } = mark;
  switch (type) {
    case 'session-started':
      return { type, collector: mark.collector, version: mark.version, shard: mark.shard };
    case 'alive':
      return { type, acked: mark.acked };
    case 'session-stopped':
      return { type, cause: mark.cause };
    case 'connected':
      return { type, stream: mark.stream, connection: mark.connection, url: mark.url };
    case 'disconnected':
      return { type, stream: mark.stream, connection: mark.connection, cause: mark.cause };
    case 'repaired': {
      const { stream, event, market, from, to, poll } = mark;
      return { type, stream, eventId: event, marketId: market, from, to, poll };
    }
    case 'subscribed':
    case 'unsubscribed':
    case 'frozen':
    case 'quiet':
      return {
        type,
        stream: mark.stream,
        connection: mark.connection,
        eventId: mark.event,
        marketIds: mark.type === 'subscribed' ? mark.markets : [],
        since: mark.type === 'frozen' ? mark.since : null,
        cause: mark.type === 'unsubscribed' || mark.type === 'frozen' ? mark.cause : '',
      };
  }
}
