import type { TopicOptions } from '../../bus/index.js';
import type { TransformSettings } from '../../core/index.js';

/** Options of a worker that are settings. */
export interface WorkerConfig extends TransformSettings {
  /** For topics that do not exist yet. */
  readonly topics: TopicOptions;
}
