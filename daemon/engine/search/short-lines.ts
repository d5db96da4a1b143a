// Cuts long lines in chunks (API.md 6.1, `maxLineBytes`) to the surroundings of their ranges; positions stay.

import type { RenderedDocs } from '../host/searcher.ts';

const MARK = '…';
/** A line end in JSON. */
const LINE_END = '\\n';
const BACKSLASH = 0x5c;

interface Position {
  readonly lineNumber: number;
  /** 1-based, in code points. */
  readonly column: number;
}

interface Chunk {
  content: string;
  readonly contentStart: Position;
  readonly matchRanges: readonly { readonly start: Position; readonly end: Position }[];
}

/** In code points. */
interface Stretch {
  start: number;
  end: number;
}

/** Cuts lines to `sizeMax` bytes, not counting marks. */
export function withShortLines(docs: RenderedDocs, sizeMax: number): RenderedDocs {
  const all = Buffer.from(docs.json.buffer, docs.json.byteOffset, docs.json.byteLength);
  const parts: Buffer[] = [];
  const sizes = docs.sizes.slice();
  let start = 0;
  for (const [index, size] of docs.sizes.entries()) {
    const json = all.subarray(start, start + size);
    const part = mayHaveLongLine(json, sizeMax) ? shortened(json, sizeMax) : json;
    parts.push(part);
    sizes[index] = part.length;
    start += size;
  }
  return { ...docs, json: new Uint8Array(Buffer.concat(parts)), sizes };
}

/** False: each line of a chunk, as JSON, has fewer bytes. */
function mayHaveLongLine(json: Buffer, sizeMax: number): boolean {
  let start = 0;
  for (let end = json.indexOf(LINE_END); end >= 0; end = json.indexOf(LINE_END, end + 1)) {
    if (isEscaped(json, end)) continue;
    if (end - start > sizeMax) return true;
    start = end + LINE_END.length;
  }
  return json.length - start > sizeMax;
}

/** Whether the backslash there is itself escaped, so that a plain letter follows. */
function isEscaped(json: Buffer, position: number): boolean {
  let before = position;
  while (json[before - 1] === BACKSLASH) before--;
  return (position - before) % 2 === 1;
}

function shortened(json: Buffer, sizeMax: number): Buffer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the core has just written it
  const file = JSON.parse(json.toString()) as { readonly chunks: readonly Chunk[] };
  for (const chunk of file.chunks) chunk.content = shortContent(chunk, sizeMax);
  return Buffer.from(JSON.stringify(file));
}

function shortContent(chunk: Chunk, sizeMax: number): string {
  return chunk.content
    .split('\n')
    .map((line, index) =>
      Buffer.byteLength(line) <= sizeMax
        ? line
        : shortLine(line, stretchesIn(chunk, chunk.contentStart.lineNumber + index), sizeMax),
    )
    .join('\n');
}

/** The parts of a line covered by a chunk's ranges. */
function stretchesIn({ matchRanges }: Chunk, lineNumber: number): Stretch[] {
  return matchRanges
    .filter(({ start, end }) => start.lineNumber <= lineNumber && end.lineNumber >= lineNumber)
    .map(({ start, end }) => ({
      start: start.lineNumber === lineNumber ? start.column - 1 : 0,
      end: end.lineNumber === lineNumber ? end.column - 1 : Infinity,
    }));
}

/** @param stretches  ascending; empty: the line is shown from its start */
function shortLine(line: string, stretches: readonly Stretch[], sizeMax: number): string {
  const points = Array.from(line);
  const visible = stretches.length === 0 ? [{ start: 0, end: 0 }] : stretches;
  let remaining = sizeMax;
  const kept: Stretch[] = [];
  for (const { start, end } of visible) {
    const stretch = { start, end: start };
    while (stretch.end < Math.min(end, points.length)) {
      const size = Buffer.byteLength(points[stretch.end]!);
      if (size > remaining) break;
      remaining -= size;
      stretch.end++;
    }
    if (stretch.end > start || end === start) kept.push(stretch);
    if (stretch.end < Math.min(end, points.length)) break;
  }
  for (const stretch of kept) widen(stretch, points, remaining / kept.length);
  return joined(points, kept);
}

/** Adds up to `sizeMax` bytes around it, half of them before. */
function widen(stretch: Stretch, points: readonly string[], sizeMax: number): void {
  let remaining = sizeMax / 2;
  while (stretch.start > 0) {
    remaining -= Buffer.byteLength(points[stretch.start - 1]!);
    if (remaining < 0) break;
    stretch.start--;
  }
  remaining = Math.max(0, remaining) + sizeMax / 2;
  while (stretch.end < points.length) {
    remaining -= Buffer.byteLength(points[stretch.end]!);
    if (remaining < 0) break;
    stretch.end++;
  }
}

function joined(points: readonly string[], stretches: readonly Stretch[]): string {
  let text = '';
  let next = 0;
  for (const { start, end } of stretches) {
    if (start > next) text += MARK;
    text += points.slice(Math.max(start, next), end).join('');
    next = Math.max(next, end);
  }
  return next < points.length ? text + MARK : text;
}
