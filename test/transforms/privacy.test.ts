import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../core/index.js';
import { Privacy } from '../../transforms/record/privacy.js';
import { activityRecords } from '../../transforms/tables/activity-records.js';
import { profileObservations } from '../../transforms/tables/profile-observations.js';
import { builder, envelope, recordBatch, transformed } from './support.js';

const KEY = 'a key that nobody knows';
const NAME = 'Zoë "the" trader';
const privacy = new Privacy(KEY);
const hashed = createHmac('sha256', KEY).update(NAME).digest('hex');
const req = { operation: 'activity', status: 200, poll: 'p1', account: 'main' };
const item = { tra: 'r1', u: 'u1', n: NAME, q: 1, pr: 0.5 };

describe('usernames', () => {
  it('are stored unchanged without a key', () => {
    const output = transformed('account.activity', { i: [item] }, { request: req });
    expect(output.rowsOf(activityRecords).map(({ record }) => record.username)).toEqual([NAME]);
  });

  it('are stored as their HMAC-SHA-256 under the key', () => {
    const activity = transformed('account.activity', { i: [item] }, { request: req }, undefined, privacy);
    expect(activity.rowsOf(activityRecords).map(({ record }) => record.username)).toEqual([hashed]);
    const body = { profile: { userId: 'u1', username: NAME } };
    const profile = transformed('account.profile-stats', body, { request: req }, undefined, privacy);
    expect(profile.rowsOf(profileObservations).map(({ record }) => record.username)).toEqual([hashed]);
  });
});

/** All rows of a topic's records, as bytes. */
function storedOf(topic: string, values: readonly Buffer[], bodyDays = 30) {
  const building = builder({ source: { topic, log: 'log', partition: 0 }, privacy, bodyDays });
  building.add(recordBatch(values));
  const built = building.finish();
  return { bytes: Buffer.concat((built?.blocks ?? []).map(({ body }) => body)).toString('latin1'), built };
}

describe('with a key, no stored byte contains a username', () => {
  const reqJson = JSON.stringify(req);
  const leaks: readonly [string, string, Buffer][] = [
    [
      'a body',
      TOPICS.account,
      envelope({ kind: 'account.activity', requestJson: reqJson, bodyJson: JSON.stringify({ i: [item] }) }),
    ],
    [
      'an entry that is not understood',
      TOPICS.account,
      envelope({
        kind: 'account.activity',
        requestJson: reqJson,
        bodyJson: JSON.stringify({ i: [{ ...item, q: NAME }] }),
      }),
    ],
    [
      'an amount that does not fit',
      TOPICS.account,
      envelope({
        kind: 'account.activity',
        requestJson: reqJson,
        bodyJson: JSON.stringify({ i: [{ ...item, q: 1e30 }] }),
      }),
    ],
    [
      'a body of another form',
      TOPICS.account,
      envelope({ kind: 'account.activity', requestJson: reqJson, bodyJson: JSON.stringify(NAME) }),
    ],
    [
      'a body that is not JSON',
      TOPICS.account,
      envelope({
        kind: 'account.activity',
        requestJson: reqJson,
        encoding: 'text',
        bodyJson: JSON.stringify(`<${NAME}>`),
      }),
    ],
    [
      'a response with an error',
      TOPICS.account,
      envelope({
        kind: 'account.activity',
        requestJson: JSON.stringify({ ...req, status: 500 }),
        bodyJson: JSON.stringify({ message: NAME }),
      }),
    ],
    [
      'a piece of a body whose other pieces never arrive',
      TOPICS.account,
      envelope({
        kind: 'account.activity',
        requestJson: reqJson,
        piece: { i: 0, of: 2 },
        bodyJson: JSON.stringify(JSON.stringify({ i: [item] })),
      }),
    ],
    [
      'a profile',
      TOPICS.account,
      envelope({
        kind: 'account.profile-stats',
        requestJson: reqJson,
        bodyJson: JSON.stringify({ profile: { userId: 'u1', username: NAME, joinedAt: NAME } }),
      }),
    ],
    [
      'a feed without documented messages',
      TOPICS.reference,
      envelope({ kind: 'reference.feed-frame', bodyJson: JSON.stringify({ who: NAME }) }),
    ],
    [
      'a kind of a later version',
      TOPICS.account,
      envelope({ kind: 'account.names' as 'account.activity', requestJson: reqJson, bodyJson: JSON.stringify([NAME]) }),
    ],
    ['a record that is no envelope', TOPICS.account, Buffer.from(JSON.stringify({ n: NAME }))],
    ['a record that is not JSON', TOPICS.account, Buffer.from(`{"n":"${NAME}`)],
  ];

  it.each(leaks)('%s', (_, topic, value) => {
    for (const bodyDays of [30, 0]) {
      const { bytes, built } = storedOf(topic, [value], bodyDays);
      expect(built?.blocks.length).toBeGreaterThan(0);
      for (const part of ['Zo', 'trader', Buffer.from('Zoë').toString('latin1')]) expect(bytes).not.toContain(part);
    }
  });

  it('while bodies of other kinds are stored', () => {
    const frame = envelope({ bodyJson: JSON.stringify({ t: 'NEWS', d: NAME }) });
    expect(storedOf(TOPICS.orderBook, [frame]).bytes).toContain('trader');
  });
});
