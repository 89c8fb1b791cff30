import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEmbeddedBus } from '../../bus/index.js';
import { encodeEnvelope, TOPICS } from '../../core/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { readLedger } from './ledger.js';

it('the ledger expects of each second of chance history the point that was received last', async () => {
  const bus = openEmbeddedBus({ dir: join(temporaryFolder(), 'bus'), retentionEveryMs: 0 });
  onTestFinished(() => bus.close());
  await bus.ensureTopic(TOPICS.chance, { partitions: 1, retentionMs: null, retentionBytes: null });
  const responses: [receivedAt: number, sessionId: string, points: [second: number, chance: number][]][] = [
    [2_000_000, 'second', [[101, 0.6]]],
    [
      1_000_000,
      'first',
      [
        [100, 0.4],
        [101, 0.5],
      ],
    ],
  ];
  const requestJson = JSON.stringify({ event: 'e', market: 'm', period: '1s', status: 200, from: 0, to: 200 });
  for (const [receivedAt, sessionId, points] of responses) {
    const bodyJson = JSON.stringify(points.map(([t, p]) => ({ t, p })));
    const fields = { kind: 'chance.history', sessionId, sequence: 1, receivedAt, requestJson, bodyJson } as const;
    await bus.append(TOPICS.chance, [{ key: 'm', value: Buffer.from(encodeEnvelope(fields)) }]);
  }
  const { rows } = await readLedger(bus);
  expect([...(rows.get('chance_history_points') ?? [])].sort()).toEqual(['e m 1s 100 0.4', 'e m 1s 101 0.6']);
});
