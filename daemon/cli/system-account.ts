// The account of the operating system that a command runs under, for the audit records of what it does.

import { userInfo } from 'node:os';

/** Its name; where it has none, as in some containers, `uid` and its number. */
export function systemAccount(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${String(process.getuid?.() ?? 'unknown')}`;
  }
}
