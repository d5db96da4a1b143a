// A set of code points as a graph over the bytes of UTF-8, the smallest there is: equal ends are one node.
// Both automata are made from it, the reverse one by walking its edges backwards.

import type { CodePointRange } from './tree.ts';

/** Target of the edge that reads the last byte. */
export const GRAPH_END = -1;

/** A range of bytes, both inclusive, and the node behind it. */
export interface ByteEdge {
  readonly first: number;
  readonly last: number;
  /** Index of a node, or GRAPH_END. */
  readonly target: number;
}

/** Nodes by their edges, ascending and disjoint; each stands behind those it leads to, so the root is last. */
export type ByteGraph = readonly (readonly ByteEdge[])[];

/** Bits of a code point in one continuation byte. */
const CONTINUATION_BITS = 6;

/** Code points of the same size in UTF-8: from `start`, exclusive `end`; the bits that mark the first byte. */
const SIZES = [
  { start: 0, end: 0x80, mark: 0, continuationCount: 0 },
  { start: 0x80, end: 0x800, mark: 0xc0, continuationCount: 1 },
  { start: 0x800, end: 0x10000, mark: 0xe0, continuationCount: 2 },
  { start: 0x10000, end: 0x110000, mark: 0xf0, continuationCount: 3 },
] as const;

/** Nodes by the text of their edges. */
interface GraphBuilder {
  readonly nodes: (readonly ByteEdge[])[];
  readonly known: Map<string, number>;
}

const graphs = new WeakMap<readonly CodePointRange[], ByteGraph>();

/**
 * The graph of a set. A set of no code points has a root without edges.
 *
 * @param ranges  normalized, without surrogates; equal arrays are remembered as long as they live
 */
export function byteGraph(ranges: readonly CodePointRange[]): ByteGraph {
  const cached = graphs.get(ranges);
  if (cached !== undefined) return cached;
  const builder: GraphBuilder = { nodes: [], known: new Map() };
  const edges = SIZES.flatMap((size) =>
    edgesOf(builder, clip(ranges, size.start, size.end), size.continuationCount, size.mark),
  );
  builder.nodes.push(edges);
  graphs.set(ranges, builder.nodes);
  return builder.nodes;
}

/** The parts of ranges between `start` and `end`. */
function clip(
  ranges: readonly CodePointRange[],
  start: number,
  end: number,
): readonly CodePointRange[] {
  return ranges
    .filter((range) => range.start < end && range.end > start)
    .map((range) => ({ start: Math.max(range.start, start), end: Math.min(range.end, end) }));
}

/**
 * Edges that read the bits of `ranges` above the last `depth` continuation bytes, then those bytes.
 *
 * @param mark  added to the bits to make the byte
 */
function edgesOf(
  builder: GraphBuilder,
  ranges: readonly CodePointRange[],
  depth: number,
  mark: number,
): readonly ByteEdge[] {
  const edges: ByteEdge[] = [];
  const add = (first: number, last: number, target: number): void => {
    const previous = edges.at(-1);
    if (previous?.target === target && previous.last + 1 === mark + first) {
      edges[edges.length - 1] = { ...previous, last: mark + last };
    } else {
      edges.push({ first: mark + first, last: mark + last, target });
    }
  };
  for (const { high, highEnd, parts } of blocksOf(ranges, CONTINUATION_BITS * depth)) {
    add(high, highEnd - 1, depth === 0 ? GRAPH_END : nodeOf(builder, parts, depth - 1));
  }
  return edges;
}

/** Values with the same high bits, or a run of high bits below which all values are in. */
interface Block {
  readonly high: number;
  readonly highEnd: number;
  /** Ranges of the low bits. */
  readonly parts: readonly CodePointRange[];
}

/** Cuts ranges by all but the lowest `bits` bits of their values. */
function blocksOf(ranges: readonly CodePointRange[], bits: number): readonly Block[] {
  const size = 2 ** bits;
  const blocks: { high: number; highEnd: number; parts: CodePointRange[] }[] = [];
  for (const { start, end } of ranges) {
    for (let at = start; at < end;) {
      const high = Math.floor(at / size);
      const base = high * size;
      const isRun = at === base && end >= base + size;
      const highEnd = isRun ? Math.floor(end / size) : high + 1;
      const part = { start: at - base, end: isRun ? size : Math.min(end - base, size) };
      const last = blocks.at(-1);
      if (last?.high === high && !isRun) last.parts.push(part);
      else blocks.push({ high, highEnd, parts: [part] });
      at = isRun ? highEnd * size : base + part.end;
    }
  }
  return blocks;
}

/** The node that reads a continuation byte and `depth` more; `ranges` are of their bits. */
function nodeOf(builder: GraphBuilder, ranges: readonly CodePointRange[], depth: number): number {
  const edges = edgesOf(builder, ranges, depth, 0x80);
  const key = edges.map(({ first, last, target }) => `${first} ${last} ${target}`).join();
  const known = builder.known.get(key);
  if (known !== undefined) return known;
  const node = builder.nodes.push(edges) - 1;
  builder.known.set(key, node);
  return node;
}
