// Names of skip reasons (API.md 20.4) by their number in a shard.

import {
  SKIP_BINARY,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
} from '../../../core/shared/format.ts';

export type SkipReason = 'too_large' | 'binary' | 'too_many_trigrams';

export const SKIP_REASON_NAMES: Readonly<Record<number, SkipReason>> = {
  [SKIP_BINARY]: 'binary',
  [SKIP_TOO_LARGE]: 'too_large',
  [SKIP_TOO_MANY_TRIGRAMS]: 'too_many_trigrams',
};
