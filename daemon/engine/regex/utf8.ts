// A set of code points as graphs over UTF-8 bytes, forwards or backwards; no two branches of a node begin with the same byte.

import type { CodePointRange, CodePointRanges } from './tree.ts';

/** Target of an edge that reads the last byte. */
export const GRAPH_END = -1;

export interface ByteEdge {
  readonly first: number;
  readonly last: number;
  /** Index of a node, or GRAPH_END. */
  readonly target: number;
}

/** Nodes as lists of edges, ascending and disjoint; each node follows its targets, so the root is last. */
export type ByteGraph = readonly (readonly ByteEdge[])[];

/** Code points with the same size in UTF-8: from `start` to before `end`; the bits that mark the first byte. */
const SIZES = [
  { start: 0, end: 0x80, mark: 0, continuationCount: 0 },
  { start: 0x80, end: 0x800, mark: 0xc0, continuationCount: 1 },
  { start: 0x800, end: 0x10000, mark: 0xe0, continuationCount: 2 },
  { start: 0x10000, end: 0x110000, mark: 0xf0, continuationCount: 3 },
] as const;

interface GraphBuilder {
  readonly nodes: (readonly ByteEdge[])[];
  readonly nodesByKey: Map<string, number>;
}

const forwardGraphs = new WeakMap<CodePointRanges, ByteGraph>();
const reverseGraphs = new WeakMap<CodePointRanges, ByteGraph>();

/**
 * The minimal graph of a set, from first byte to last. The empty set has a root without edges.
 * @param ranges  normalized, without surrogates; the graph is cached as long as the array lives
 */
export function byteGraph(ranges: CodePointRanges): ByteGraph {
  return graphOf(forwardGraphs, ranges, forwardGraph);
}

/** From the last byte to the first. Few more nodes: 463 for the 300 of `\pL`. Cost: some twenty times that of byteGraph. */
export function reverseByteGraph(ranges: CodePointRanges): ByteGraph {
  return graphOf(reverseGraphs, ranges, () => reverseGraph(byteGraph(ranges)));
}

function graphOf(
  graphs: WeakMap<CodePointRanges, ByteGraph>,
  ranges: CodePointRanges,
  make: (ranges: CodePointRanges) => ByteGraph,
): ByteGraph {
  const graph = graphs.get(ranges) ?? make(ranges);
  graphs.set(ranges, graph);
  return graph;
}

function forwardGraph(ranges: CodePointRanges): ByteGraph {
  const builder: GraphBuilder = { nodes: [], nodesByKey: new Map() };
  const edges = SIZES.flatMap((size) =>
    edgesOf(builder, clip(ranges, size.start, size.end), size.continuationCount, size.mark),
  );
  builder.nodes.push(edges);
  return builder.nodes;
}

/** Each of its nodes is the set of nodes of `graph` that the bytes read so far may come from. */
function reverseGraph(graph: ByteGraph): ByteGraph {
  const root = graph.length - 1;
  const incoming = incomingEdges(graph);
  const nodes: (readonly ByteEdge[])[] = [];
  const nodesByKey = new Map<string, number>();
  const nodeOf = (members: readonly number[]): number => {
    // Why not `join`: there are thousands of keys. Bound: a graph has less than 2^16 nodes.
    const key = String.fromCharCode(...members);
    const cached = nodesByKey.get(key);
    if (cached !== undefined) return cached;
    const edges: OpenEdge[] = [];
    const lists = sourcesByByte(members, incoming);
    for (let byte = 0; byte < lists.length; byte++) {
      const sources = lists[byte];
      if (sources === undefined) continue;
      // Invariant: only the first byte of a code point is read from the root, and it is distinct from all others.
      addEdge(edges, byte, byte, sources[0] === root ? GRAPH_END : nodeOf(sources));
    }
    const node = nodes.push(edges) - 1;
    nodesByKey.set(key, node);
    return node;
  };
  nodeOf([GRAPH_END]);
  return nodes;
}

/** The edges into each node and into GRAPH_END, with their source nodes as targets. */
function incomingEdges(graph: ByteGraph): ReadonlyMap<number, readonly ByteEdge[]> {
  const incoming = new Map<number, ByteEdge[]>([[GRAPH_END, []]]);
  for (const source of graph.keys()) incoming.set(source, []);
  for (const [source, edges] of graph.entries()) {
    for (const { first, last, target } of edges)
      incoming.get(target)!.push({ first, last, target: source });
  }
  return incoming;
}

/** For each byte the nodes that it leads from to one of `members`, ascending. */
function sourcesByByte(
  members: readonly number[],
  incoming: ReadonlyMap<number, readonly ByteEdge[]>,
): readonly (readonly number[] | undefined)[] {
  const lists = Array<number[] | undefined>(256).fill(undefined);
  for (const member of members) {
    for (const { first, last, target } of incoming.get(member)!) {
      for (let byte = first; byte <= last; byte++) {
        (lists[byte] ??= []).push(target);
      }
    }
  }
  for (const list of lists) list?.sort((a, b) => a - b);
  return lists;
}

/** An edge that may still be extended. */
export type OpenEdge = { -readonly [Key in keyof ByteEdge]: ByteEdge[Key] };

/** Appends an edge, or extends the last one if they are adjacent and have the same target. */
export function addEdge(edges: OpenEdge[], first: number, last: number, target: number): void {
  const previous = edges.at(-1);
  if (previous?.target === target && previous.last + 1 === first) previous.last = last;
  else edges.push({ first, last, target });
}

function clip(ranges: CodePointRanges, start: number, end: number): CodePointRanges {
  return ranges
    .filter((range) => range.start < end && range.end > start)
    .map((range) => ({ start: Math.max(range.start, start), end: Math.min(range.end, end) }));
}

/**
 * Edges that read the bits of `ranges` above the last `depth` continuation bytes, then those bytes. `mark` is added to the
 * bits.
 */
function edgesOf(
  builder: GraphBuilder,
  ranges: CodePointRanges,
  depth: number,
  mark: number,
): readonly ByteEdge[] {
  const edges: OpenEdge[] = [];
  // A continuation byte has six bits of the code point.
  for (const { high, highEnd, parts } of blocksOf(ranges, 6 * depth)) {
    const target = depth === 0 ? GRAPH_END : nodeOf(builder, parts, depth - 1);
    addEdge(edges, mark + high, mark + highEnd - 1, target);
  }
  return edges;
}

/** Values with the same high bits, or a run of high bits with all values below them. */
interface Block {
  readonly high: number;
  readonly highEnd: number;
  readonly parts: CodePointRanges;
}

/** Groups ranges by all but the lowest `bits` bits of their values. */
function blocksOf(ranges: CodePointRanges, bits: number): readonly Block[] {
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
function nodeOf(builder: GraphBuilder, ranges: CodePointRanges, depth: number): number {
  const edges = edgesOf(builder, ranges, depth, 0x80);
  const key = edges.map(({ first, last, target }) => `${first} ${last} ${target}`).join();
  const nodesByKey = builder.nodesByKey.get(key);
  if (nodesByKey !== undefined) return nodesByKey;
  const node = builder.nodes.push(edges) - 1;
  builder.nodesByKey.set(key, node);
  return node;
}
