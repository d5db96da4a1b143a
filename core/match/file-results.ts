// Writes the file results of an answer (API.md 6.3) as JSON: the members from render.ts, language,
// skip reason and links. The parts of links that docs share come from the host as JSON; only the
// path, percent-encoded, is added here.

import { arenaMark, arenaReset } from '../base/arena.ts';
import { beginWork, isStopped } from '../base/work.ts';
import { forgetRegexTexts } from '../regex/regex.ts';
import { writeAsciiText, writeJsonString } from '../scan/json.ts';
import {
  LANGUAGE_ROW_SIZE,
  SKIP_BINARY,
  SKIP_NONE,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
} from '../shared/format.ts';
import { LINK_TEXTS_SIZE, RENDER_REQUEST_SIZE } from '../shared/plan.ts';
import { STATUS_OK, STATUS_STOPPED } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
import { DocRow, LanguageRow } from '../shard/rows.ts';
import { decodedPoint, decodedSize, decodeUtf8, REPLACEMENT } from '../text/utf8.ts';
import { boundView } from './bound.ts';
import { forgetReads } from './current.ts';
import { renderArena } from './request.ts';
import { isFirstReadByRender, renderBytesRead, renderDoc, renderedRangeCount } from './render.ts';

/** A doc to render and its result: a row for each doc. */
@unmanaged
class RenderRequest {
  docId: u32;
  rangeMax: u32; // in: most ranges; out: number of ranges
  size: u32; // out: bytes of the object
  links: u32; // in: index of its link texts; out: bytes read in addition to evaluation
  kept: u32; // in: address of its ranges kept by a unit
  keptCount: u32; // in
  members: u32; // in: address of additional members, from a comma on, as JSON
  membersSize: u32; // in
}
if (offsetof<RenderRequest>() != RENDER_REQUEST_SIZE) ERROR('RenderRequest: size');

/** Link texts shared by docs of one repo in the same revisions; addresses and sizes. */
@unmanaged
class LinkTexts {
  /** `"<base>/browse/<repo>@<revision>/-/blob/` without the closing quote. */
  page: u32;
  pageSize: u32;
  /** The additional members, from a comma on. */
  members: u32;
  membersSize: u32;
  /** Before and after the path in the URL at the code host; size 0: there is none. */
  external: u32;
  externalSize: u32;
  externalEnd: u32;
  externalEndSize: u32;
}
if (offsetof<LinkTexts>() != LINK_TEXTS_SIZE) ERROR('LinkTexts: size');

/** Docs of the last call that only rendering read. */
export let loadCount: u32 = 0;


/** Room for the names of members, without texts and path. */
const RESERVE: usize = 256;

/**
 * Renders the docs of `count` requests to [out, outEnd); returns how many, fewer if the area was
 * full, or STATUS_STOPPED. @param links  records of LinkTexts, which the requests name by index
 */
export function renderDocs(
  requests: usize,
  count: u32,
  links: usize,
  contextLines: u32,
  isWhole: u32,
  out: usize,
  outEnd: usize,
): i32 {
  beginWork();
  loadCount = 0;
  const arena = renderArena();
  const mark = arenaMark(arena);
  for (let i: u32 = 0; i < count; i++) {
    const request = changetype<RenderRequest>(requests + <usize>i * RENDER_REQUEST_SIZE);
    const texts = changetype<LinkTexts>(links + <usize>request.links * LINK_TEXTS_SIZE);
    const doc = docAt(boundView, request.docId);
    const tailReserve =
      RESERVE +
      texts.pageSize +
      texts.membersSize +
      request.membersSize +
      texts.externalSize +
      texts.externalEndSize +
      18 * doc.pathSize;
    if (out + tailReserve >= outEnd) return <i32>i;
    const start = out;
    store<u8>(out, 123);
    const size = renderDoc(
      arena,
      request.docId,
      request.rangeMax,
      contextLines,
      isWhole,
      request.kept,
      request.keptCount,
      out + 1,
      outEnd - tailReserve,
    );
    arenaReset(arena, mark);
    if (isStopped) {
      forgetReads();
      forgetRegexTexts();
      return STATUS_STOPPED;
    }
    if (size < STATUS_OK) return <i32>i;
    out = writeTail(out + 1 + size, doc, texts);
    out = writeBytes(out, request.members, request.membersSize);
    out = writeAsciiText(out, '}');
    request.rangeMax = renderedRangeCount;
    request.size = <u32>(out - start);
    request.links = <u32>renderBytesRead;
    if (isFirstReadByRender) loadCount++;
  }
  return <i32>count;
}

function writeTail(out: usize, doc: DocRow, texts: LinkTexts): usize {
  out = writeAsciiText(out, ',"language":"');
  const language = changetype<LanguageRow>(
    <usize>boundView.languages + <usize>doc.languageIndex * LANGUAGE_ROW_SIZE,
  );
  const name = <usize>boundView.names + language.nameOffset;
  out = writeJsonString(out, name, name + language.nameSize);
  out = writeAsciiText(out, '"');
  if (doc.skipReason != SKIP_NONE) {
    out = writeAsciiText(out, ',"skipReason":"');
    out = writeAsciiText(out, skipReasonName(doc.skipReason));
    out = writeAsciiText(out, '"');
  }
  const path = <usize>boundView.paths + doc.pathOffset;
  out = writeAsciiText(out, ',"webUrl":');
  out = writeBytes(out, texts.page, texts.pageSize);
  out = writeEncodedPath(out, path, path + doc.pathSize);
  out = writeAsciiText(out, '"');
  out = writeBytes(out, texts.members, texts.membersSize);
  if (texts.externalSize > 0) {
    out = writeAsciiText(out, ',"externalWebUrl":');
    out = writeBytes(out, texts.external, texts.externalSize);
    out = writeEncodedPath(out, path, path + doc.pathSize);
    out = writeBytes(out, texts.externalEnd, texts.externalEndSize);
  }
  return out;
}

function skipReasonName(reason: u32): string {
  if (reason == SKIP_BINARY) return 'binary';
  if (reason == SKIP_TOO_LARGE) return 'too_large';
  return reason == SKIP_TOO_MANY_TRIGRAMS ? 'too_many_trigrams' : '';
}

function writeBytes(out: usize, ptr: usize, size: u32): usize {
  memory.copy(out, ptr, size);
  return out + size;
}

/**
 * As encodeURIComponent does the segments; a bad byte is U+FFFD. A byte becomes at most 9 bytes.
 */
function writeEncodedPath(out: usize, ptr: usize, end: usize): usize {
  while (ptr < end) {
    const decoded = decodeUtf8(ptr, end);
    const size = decodedSize(decoded);
    const point = decodedPoint(decoded);
    if (isPlain(point)) store<u8>(out++, <u8>point);
    else if (point == REPLACEMENT) out = writeAsciiText(out, '%EF%BF%BD');
    else for (let i: usize = 0; i < size; i++) out = writeEncodedByte(out, load<u8>(ptr + i));
    ptr += size;
  }
  return out;
}

/** Whether the code point is not encoded; 45 to 57 are `-./` and the digits. */
function isPlain(point: u32): bool {
  const lower = point | 0x20;
  if ((point < 128 && lower >= 97 && lower <= 122) || (point >= 45 && point <= 57)) return true;
  return point == 95 || point == 33 || point == 126 || (point >= 39 && point <= 42);
}

function writeEncodedByte(out: usize, byte: u32): usize {
  store<u8>(out, 37);
  store<u8>(out, <u8>hexDigit(byte >> 4), 1);
  store<u8>(out, <u8>hexDigit(byte & 15), 2);
  return out + 3;
}

@inline
function hexDigit(value: u32): u32 {
  return value < 10 ? 48 + value : 55 + value;
}
