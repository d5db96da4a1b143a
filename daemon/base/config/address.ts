// Addresses in the configuration: what is allowed of them, and how they are shown without what may be secret in them.

import { z } from 'zod';

/** http or https, without query and credentials. */
export const plainUrl = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i, {
    error: 'expected an http or https address without user, password and query',
  })
  .refine((url) => URL.canParse(url), { error: 'expected an http or https address' });

/** Of a host: no path but the one it is installed below. Slashes at its end go. */
export const hostUrl = plainUrl.overwrite((url) => url.replace(/\/+$/, ''));

/** How tokens of well-known hosts begin, and our own. */
export const TOKEN_START =
  /^(?:gh[oprsu]_|github_pat_|gl[a-z]{2,8}-|ATBB|ATCTT|ATATT|BBDC-|sv[a-z]{1,2}_|-----BEGIN)/;

const SHOWN_SIZE_MAX = 80;

/** A value of the file for people; "": it is not shown. Users, passwords and queries of addresses are left out. */
export function shownValue(value: unknown): string {
  if (typeof value !== 'string') {
    const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean';
    return isPlain ? String(value) : '';
  }
  if (TOKEN_START.test(value)) return '(hidden)';
  const bare = value
    .replace(/(?<=:\/\/)[^/\s]*@/, '(hidden)@')
    .replace(/(?<=:\/\/[^?#]*)[?#].*$/s, '?(hidden)');
  return JSON.stringify(
    bare.length > SHOWN_SIZE_MAX ? `${bare.slice(0, SHOWN_SIZE_MAX)}...` : bare,
  );
}
