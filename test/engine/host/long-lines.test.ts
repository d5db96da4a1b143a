// Lines around pages of 4 KiB, and of many: chunks, line numbers and columns are those of the whole text.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_SCORE } from '../../../core/shared/plan.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import {
  buildShard,
  coreModule,
  encodedPlan,
  type FileResult,
  LINKS,
  REPO,
  temporaryFolder,
} from './harness.ts';

const SIZES = [0, 1, 63, 64, 4095, 4096, 4097, 9000];
const WORD = 'needle';

/** Random texts that end with the word; some begin with a byte order mark. */
function makeTexts(): string[] {
  let seed = 7;
  const pick = (count: number): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return (seed >> 8) % count;
  };
  return Array.from({ length: 120 }, () => {
    let text = pick(2) === 0 ? '' : '\ufeff';
    for (let line = 1 + pick(9); line > 0; line--) {
      text += 'é'.repeat(pick(3)) + 'x'.repeat(SIZES[pick(SIZES.length)]!);
      text += (pick(3) === 0 ? ` ${WORD} ` : '') + '\n'.repeat(pick(3));
    }
    return `${text}z ${WORD}${'\n'.repeat(pick(2))}`;
  });
}

function check({ chunks }: FileResult, text: string, contextLines: number): number {
  const bytes = Buffer.from(text);
  const markSize = text.startsWith('\ufeff') ? 3 : 0;
  const lines = bytes.toString('utf8', markSize).match(/[^\n]*\n|[^\n]+$/g)!;
  for (const { content, contentStart, matchRanges } of chunks) {
    const first = Math.max(1, matchRanges[0]!.start.lineNumber - contextLines);
    const last = matchRanges.at(-1)!.end.lineNumber + contextLines;
    assert.equal(content, lines.slice(first - 1, last).join(''));
    assert.equal(contentStart.lineNumber, first);
    for (const { start, end } of matchRanges) {
      assert.equal(bytes.toString('utf8', start.byteOffset, end.byteOffset), WORD);
      const before = bytes.toString('utf8', markSize, start.byteOffset).split('\n');
      assert.equal(start.lineNumber, before.length);
      assert.equal(start.column, Array.from(before.at(-1)!).length + 1);
    }
  }
  return chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
}

void test('long lines are shown whole, with the lines around them', async () => {
  const module = await coreModule('debug');
  const texts = makeTexts();
  const docs = texts.map((text, doc) => ({ path: `p${doc}`, bytes: Buffer.from(text) }));
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const searcher = new Searcher(module);
  assert.deepEqual(searcher.setShards([shard]), []);
  searcher.beginPlan(encodedPlan(WORD));
  const { unitCount } = searcher.bind(shard.shardId);
  let checked = 0;
  for (let unit = 0; unit < unitCount; unit++) {
    const { rows } = searcher.searchUnit(unit);
    for (let row = 0; row < rows.length; row += 4)
      for (const contextLines of [0, 1, 3]) {
        const options = { links: [LINKS], ends: [], contextLines, returnsContent: false };
        const request = Uint32Array.of(rows[row]!, 1000, 0, 0, NO_SCORE, 0);
        const { json } = searcher.render(request, new Uint32Array(), options)!;
        const file = JSON.parse(Buffer.from(json).toString()) as FileResult;
        checked += check(file, texts[Number(file.fileName.text.slice(1))]!, contextLines);
      }
  }
  assert.ok(checked > 500, String(checked));
});
