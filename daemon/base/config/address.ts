// Addresses in the configuration: which ones are allowed, and how they are printed without their secrets.

import { z } from 'zod';

/** http or https, without query or credentials. */
export const plainUrl = z
  .string()
  .regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i, {
    error: 'expected an http or https address without user, password and query',
  })
  .refine((url) => URL.canParse(url), { error: 'expected an http or https address' });

/** Address of a host: no path except the prefix it is installed under. Trailing slashes are removed. */
export const hostUrl = plainUrl.overwrite((url) => url.replace(/\/+$/, ''));

/** Prefixes of the tokens of well-known hosts, and of ours. */
export const TOKEN_START =
  /^(?:gh[oprsu]_|github_pat_|gl[a-z]{2,8}-|ATBB|ATCTT|ATATT|BBDC-|sv[a-z]{1,2}_|-----BEGIN)/;

const DISPLAY_SIZE_MAX = 80;

/** A configuration value for people, without users, passwords and queries of addresses; "": it must not be printed. */
export function displayValue(value: unknown): string {
  if (typeof value !== 'string') {
    const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean';
    return isPlain ? String(value) : '';
  }
  if (TOKEN_START.test(value)) return '(hidden)';
  const bare = value
    .replace(/(?<=:\/\/)[^/\s]*@/, '(hidden)@')
    .replace(/(?<=:\/\/[^?#]*)[?#].*$/s, '?(hidden)');
  return JSON.stringify(
    bare.length > DISPLAY_SIZE_MAX ? `${bare.slice(0, DISPLAY_SIZE_MAX)}...` : bare,
  );
}
