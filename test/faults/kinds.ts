import { UsageError } from '../../core/index.js';
import type { Kind } from './kind.js';
import { PROCESS_KINDS } from './process-kinds.js';
import { REST_KINDS } from './rest-kinds.js';
import { STREAM_KINDS } from './stream-kinds.js';

const KINDS: readonly Kind[] = [...STREAM_KINDS, ...REST_KINDS, ...PROCESS_KINDS];

/** The kinds whose name contains one of the texts; without texts, all. @throws UsageError when a text is in no name */
export function chosenKinds(texts: readonly string[] | undefined): readonly Kind[] {
  if (texts === undefined) return KINDS;
  for (const text of texts) {
    if (!KINDS.some(({ name }) => name.includes(text))) {
      throw new UsageError(
        `--kinds: no kind is named like "${text}"; there are: ${KINDS.map(({ name }) => name).join('; ')}`,
      );
    }
  }
  return KINDS.filter(({ name }) => texts.some((text) => name.includes(text)));
}
