// Path names as git writes them before a line end or a tab: as they are, or in double quotes with C escapes.

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

const ESCAPE = /\\([0-7]{3}|.)/gs;

/** The name; bytes that are not UTF-8 as U+FFFD. */
export function unquoteName(written: string): string {
  if (!written.startsWith('"')) return written;
  const latin1 = Buffer.from(written.slice(1, -1), 'utf8').toString('latin1');
  const bytes = latin1.replace(ESCAPE, (_, code: string) => {
    const value = code.length === 3 ? Number.parseInt(code, 8) : (ESCAPES[code] ?? 63);
    return String.fromCharCode(value & 0xff);
  });
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
