// The operating-system account that a command runs under, for its audit records.

import { userInfo } from 'node:os';

/** Its name; without a name, as in some containers, `uid` and its number. */
export function systemAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${String(process.getuid?.() ?? 'unknown')}`;
  }
}
