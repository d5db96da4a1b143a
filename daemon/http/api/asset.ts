// Bodies of a type of their own, the same for everybody: the API description, a page, a script. Never
// MessagePack; clients keep them and ask whether they have changed.

import { createHash } from 'node:crypto';

export interface Asset {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** As in the header, quotes included. Weak, as it stands for all codings of the bytes. */
  readonly etag: string;
}

export function makeAsset(bytes: Uint8Array, contentType: string): Asset {
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, contentType, etag: `W/"${digest}"` };
}

/** Does the value of If-None-Match name the asset? */
export function isUnchanged({ etag }: Asset, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  const asked = ifNoneMatch.split(',').map(opaqueTag);
  return asked.includes('*') || asked.includes(opaqueTag(etag));
}

function opaqueTag(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
