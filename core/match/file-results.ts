// Writes the file results of an answer (API.md 6.3) as JSON: the members from render.ts, language,
// skip reason and links. The host passes the parts of links that docs share as JSON; only the path,
// percent-encoded, is added here.

import { arenaMark, arenaReset } from '../base/arena.ts';
import { beginWork, isStopped } from '../base/work.ts';
import { writeAsciiText, writeBytes, writeJsonString } from '../scan/json.ts';
import { writeEncodedPath } from '../scan/percent.ts';
import {
  LANGUAGE_ROW_SIZE,
  SKIP_BINARY,
  SKIP_NONE,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
} from '../shared/format.ts';
import * as layout from '../shared/plan.ts';
import { STATUS_OK } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
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
}
if (offsetof<LinkTexts>() != layout.LINK_TEXTS_SIZE) ERROR('LinkTexts: size');

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
    const docId = load<u32>(request, layout.RENDER_DOC_OFFSET);
    const linksIndex = <usize>load<u32>(request, layout.RENDER_LINKS_OFFSET);
    const membersSize = load<u32>(request, layout.RENDER_MEMBERS_SIZE_OFFSET);
    const texts = changetype<LinkTexts>(links + linksIndex * layout.LINK_TEXTS_SIZE);
    const doc = docAt(boundView, docId);
    const tailReserve =
      RESERVE +
      texts.pageSize +
      texts.membersSize +
      membersSize +
      texts.externalSize +
      texts.externalEndSize +
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
    out = writeBytes(out, load<u32>(request, layout.RENDER_MEMBERS_OFFSET), membersSize);
    out = writeAsciiText(out, '}');
    store<u32>(request, renderedRangeCount, layout.RENDER_RANGE_COUNT_OFFSET);
    store<u32>(request, <u32>(out - start), layout.RENDER_OBJECT_SIZE_OFFSET);
    store<u32>(request, <u32>renderBytesRead, layout.RENDER_BYTES_READ_OFFSET);
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
