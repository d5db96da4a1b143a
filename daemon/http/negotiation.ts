// Content negotiation: reads Accept and Accept-Encoding with their quality values.

interface Preference {
  readonly name: string;
  /** 0 to 1. */
  readonly quality: number;
}

/** `a;q=0.5, b` -> a 0.5, b 1. A malformed quality counts as 0. */
function parsePreferences(header: string): Preference[] {
  return header.split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((field) => field.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 };
  });
}

function qualityOf(preferences: readonly Preference[], names: readonly string[]) {
  for (const name of names) {
    const found = preferences.find((preference) => preference.name === name);
    if (found !== undefined) return found.quality;
  }
  return undefined;
}

/** By name, with a quality above 0 and not below that of JSON (for which wildcards count). */
export function prefersMessagePack(accept: string | undefined): boolean {
  if (accept === undefined || !/msgpack/i.test(accept)) return false;
  const preferences = parsePreferences(accept);
  const quality = Math.max(
    qualityOf(preferences, ['application/x-msgpack']) ?? 0,
    qualityOf(preferences, ['application/msgpack']) ?? 0,
  );
  const json = qualityOf(preferences, ['application/json', 'application/*', '*/*']) ?? 0;
  return quality > 0 && quality >= json;
}

export type ContentCoding = 'br' | 'gzip';

/** The coding to use; undefined: none. br wins among codings of equal quality. */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === '') return undefined;
  const preferences = parsePreferences(acceptEncoding);
  const br = qualityOf(preferences, ['br', '*']) ?? 0;
  const gzip = qualityOf(preferences, ['gzip', 'x-gzip', '*']) ?? 0;
  const identity = qualityOf(preferences, ['identity']) ?? 0;
  const best = Math.max(br, gzip);
  if (best === 0 || identity > best) return undefined;
  return br === best ? 'br' : 'gzip';
}
