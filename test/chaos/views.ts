import type { Rig } from '../pipeline/rig.js';
import { declaredViews } from '../sql/declared-views.js';
import { runAs } from '../support/run-as.js';

/** Of each view that does not answer the reader, or not with finite numbers only, its name and why. */
export async function viewsWithoutAnswer(rig: Rig): Promise<string[]> {
  const { url, reader } = await rig.clickhouse();
  const login = { ...reader, url: `${url}/?database=chancery` };
  const without: string[] = [];
  for (const { name, source } of await declaredViews(rig)) {
    const answer = await runAs(login, `SELECT * FROM ${source} LIMIT 100000 FORMAT TSV`).catch((error: Error) => error);
    if (answer instanceof Error) without.push(`${name}: ${answer.message}`);
    else if (/(?<![\w'])[+-]?(nan|inf)(?![\w'])/.test(answer)) without.push(`${name}: a number is not finite`);
  }
  return without;
}
