// Writes the file results of an answer (API.md 6.3) as JSON: the members from render.ts, language,
// skip reason, links, score and git id. The host passes the parts of links that docs share as JSON;
// only the path, percent-encoded, is added here.

import { arenaMark, arenaReset } from '../base/arena.ts';
import { beginWork, isStopped } from '../base/work.ts';
import {
  writeAsciiText,
  writeBytes,
  writeDecimal,
  writeHex,
  writeJsonString,
} from '../scan/json.ts';
import { writeEncodedPath } from '../scan/percent.ts';
import {
  LANGUAGE_ROW_SIZE,
  NONE_ID,
  SKIP_BINARY,
  SKIP_NONE,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
} from '../shared/format.ts';
import * as layout from '../shared/plan.ts';
import { STATUS_OK } from '../shared/status.ts';
import { blobAt, blockAt, docAt } from '../shard/open.ts';
import { readIfChecked } from '../shard/pages.ts';
import { DocRow, LanguageRow } from '../shard/rows.ts';
import { boundView } from './bound.ts';
import { forgetStopped } from './current.ts';
import { renderArena } from './request.ts';
import { isFirstReadByRender, renderBytesRead, renderDoc, renderedRangeCount } from './render.ts';

/** Link texts shared by docs of one repo in the same revisions; addresses and sizes. */
@unmanaged
class LinkTexts {
  /** `"<base>/browse/<repo>@<revision>/-/blob/` without the closing quote. */
  page: u32;
  pageSize: u32;
  /** The additional members, from a comma on. */
  members: u32;
  membersSize: u32;
  /** The parts of the URL at the code host before and after the path; size 0: there is none. */
  external: u32;
  externalSize: u32;
  externalEnd: u32;
  externalEndSize: u32;
  /** Whether the id of the stored content follows, as `blobSha`. */
  hasBlobSha: u32;
}
if (offsetof<LinkTexts>() != layout.LINK_TEXTS_SIZE) ERROR('LinkTexts: size');

/** Docs of the last call that only rendering read. */
export let loadCount: u32 = 0;

/** Room for the names of members, without texts and path. */
const RESERVE: usize = 384;

/**
 * Renders the docs of `count` requests to [out, outEnd); returns how many, fewer if the area was
 * full, or STATUS_STOPPED. @param links  records of LinkTexts, which the requests name by index
 */
export function renderDocs(
  requests: usize,
  count: u32,
  links: usize,
  contextLines: u32,
  returnsContent: u32,
  out: usize,
  outEnd: usize,
): i32 {
  beginWork();
  loadCount = 0;
  const arena = renderArena();
  const mark = arenaMark(arena);
  for (let i: u32 = 0; i < count; i++) {
    const request = requests + <usize>i * layout.RENDER_REQUEST_SIZE;
    if (i % AHEAD_COUNT == 0) readAhead(request, min(AHEAD_COUNT, count - i));
    const docId = load<u32>(request, layout.RENDER_DOC_OFFSET);
    const linksIndex = <usize>load<u32>(request, layout.RENDER_LINKS_OFFSET);
    const texts = changetype<LinkTexts>(links + linksIndex * layout.LINK_TEXTS_SIZE);
    const endSize = <usize>load<u32>(request, layout.RENDER_END_SIZE_OFFSET);
    const doc = docAt(boundView, docId);
    const tailReserve =
      RESERVE +
      texts.pageSize +
      texts.membersSize +
      texts.externalSize +
      texts.externalEndSize +
      endSize +
      18 * doc.pathSize;
    if (out + tailReserve >= outEnd) return <i32>i;
    const start = out;
    store<u8>(out, 123);
    const size = renderDoc(
      arena,
      docId,
      load<u32>(request, layout.RENDER_RANGE_MAX_OFFSET),
      contextLines,
      returnsContent,
      load<u32>(request, layout.RENDER_KEPT_OFFSET),
      load<u32>(request, layout.RENDER_KEPT_COUNT_OFFSET),
      out + 1,
      outEnd - tailReserve,
    );
    arenaReset(arena, mark);
    if (isStopped) return forgetStopped();
    if (size < STATUS_OK) return <i32>i;
    out = writeTail(out + 1 + size, doc, texts);
    out = writeScoreAndId(out, doc, texts, load<u32>(request, layout.RENDER_SCORE_OFFSET));
    out = writeBytes(out, load<u32>(request, layout.RENDER_END_OFFSET), endSize);
    out = writeAsciiText(out, '}');
    store<u32>(request, renderedRangeCount, layout.RENDER_RANGE_COUNT_OFFSET);
    store<u32>(request, <u32>(out - start), layout.RENDER_OBJECT_SIZE_OFFSET);
    store<u32>(request, <u32>renderBytesRead, layout.RENDER_BYTES_READ_OFFSET);
    if (isFirstReadByRender) loadCount++;
  }
  return <i32>count;
}

/** Measured: 48 gain as much. */
const AHEAD_COUNT: u32 = 16;

/**
 * Reads the rows, paths and contents of `count` docs, so that the processor waits for those that are not cached together and not
 * one after another. Measured, 49,000 docs: threads take .86 of the time, search included.
 */
function readAhead(requests: usize, count: u32): void {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < count; i++) sum += requestedDoc(requests, i).blobId;
  for (let i: u32 = 0; i < count; i++) {
    const doc = requestedDoc(requests, i);
    sum += load<u8>(<usize>boundView.paths + doc.pathOffset);
    if (doc.blobId != NONE_ID) sum += blobAt(boundView, doc.blobId).firstBlock;
  }
  for (let i: u32 = 0; i < count; i++) {
    const request = requests + <usize>i * layout.RENDER_REQUEST_SIZE;
    const blobId = requestedDoc(requests, i).blobId;
    if (blobId == NONE_ID || load<u32>(request, layout.RENDER_KEPT_COUNT_OFFSET) == 0) continue;
    const blob = blobAt(boundView, blobId);
    const content = <usize>boundView.content + blob.contentOffset;
    const range = content + load<u32>(<usize>load<u32>(request, layout.RENDER_KEPT_OFFSET));
    sum += blockAt(boundView, blob.firstBlock).contentOffset;
    sum += readIfChecked(content) + readIfChecked(range) + readIfChecked(range + 64);
  }
  // Stored, or the compiler would leave the reads out; the host reads this field of rendered docs alone.
  store<u32>(requests, sum, layout.RENDER_RANGE_COUNT_OFFSET);
}

@inline
function requestedDoc(requests: usize, index: u32): DocRow {
  const request = requests + <usize>index * layout.RENDER_REQUEST_SIZE;
  return docAt(boundView, load<u32>(request, layout.RENDER_DOC_OFFSET));
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

function writeScoreAndId(out: usize, doc: DocRow, texts: LinkTexts, score: u32): usize {
  if (score != layout.NO_SCORE) {
    out = writeAsciiText(out, ',"score":');
    out = writeDecimal(out, score);
  }
  if (texts.hasBlobSha != 0 && doc.blobId != NONE_ID) {
    const size = <usize>boundView.hashSize;
    out = writeAsciiText(out, ',"blobSha":"');
    out = writeHex(out, <usize>boundView.blobHashes + <usize>doc.blobId * size, size);
    out = writeAsciiText(out, '"');
  }
  return out;
}

function skipReasonName(reason: u32): string {
  if (reason == SKIP_BINARY) return 'binary';
  if (reason == SKIP_TOO_LARGE) return 'too_large';
  return reason == SKIP_TOO_MANY_TRIGRAMS ? 'too_many_trigrams' : '';
}
