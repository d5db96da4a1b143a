// Converts JSON text to MessagePack: maps with string keys, integers in their shortest form, no extension.

import { Packr, addExtension } from 'msgpackr/pack';

const UINT32_MAX = 0xffffffff;
const UINT64_TAG = 0xcf;
const UINT64_SIZE = 9;

/** An integer above 32 bits, which msgpackr would otherwise write as a float. */
class Uint64 {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

interface WriteSpace {
  readonly target: Uint8Array;
  readonly targetView: DataView;
  readonly position: number;
}

// msgpackr passes every `pack` function a second argument that reserves bytes, which its types omit. Returning nothing
// omits the extension header. A test pins the bytes.
const pack = (integer: Uint64, reserve: (size: number) => WriteSpace): undefined => {
  const { target, targetView, position } = reserve(UINT64_SIZE);
  target[position] = UINT64_TAG;
  targetView.setBigUint64(position + 1, BigInt(integer.value));
};

addExtension({
  Class: Uint64,
  type: 1,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  pack: pack as unknown as (value: Uint64) => Uint8Array,
});

const packr = new Packr({ useRecords: false, variableMapSize: true });

/** Throws if the text is not JSON. */
export function jsonToMessagePack(json: Uint8Array): Uint8Array {
  return packr.pack(widen(JSON.parse(Buffer.from(json).toString('utf8'))));
}

/** Replaces, in place, every integer above 32 bits. */
function widen(value: unknown): unknown {
  if (typeof value === 'number') return value > UINT32_MAX ? new Uint64(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = widen(value[i]);
    return value;
  }
  // Safety: parsed JSON holds plain objects and arrays only.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const members = value as Record<string, unknown>;
  for (const [key, member] of Object.entries(members)) {
    if (typeof member === 'object' || typeof member === 'number') members[key] = widen(member);
  }
  return value;
}
