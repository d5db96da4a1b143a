// A daemon with a repository to browse: sources with names, a hostile README, pictures, older revisions, a symbolic link, a
// submodule; and another repository that uses one of the names.

import { symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { deflateSync } from 'node:zlib';
import { serve } from '../../e2e/daemon.ts';
import {
  commitAll,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { once } from '../browser.ts';

const HOSTILE_README = `# Hostile <b onclick="alert(1)">bold</b>

<img src=missing onerror="alert(1)"> ![ours](pic.png) ![tracked](https://evil.example/track.png)
<img src="//evil.example/a.png" srcset="https://evil.example/b.png 2x" style="width:9999px">
[js](javascript:alert(1)) <a href="javascript:alert(2)">raw</a> <a href="JaVaScRiPt:alert(3)">mixed</a>
<a href="&#106;avascript:alert(4)">encoded</a> <a href="data:text/html,<script>alert(5)</script>">data</a>
[file](src/plum.ts) [folder](src/) [web](https://example.com/) [heading](#hostile-bold)
[lines](src/plum.ts#L2-L3) [line](/src/plum.ts#L2C3) [there](src/guide.md#a-b)

<form action="https://evil.example/"><input name="q"><button>go</button></form>
<iframe src="https://evil.example/"></iframe><svg onload="alert(6)"></svg><style>* { display: none }</style>
<script>alert(7)</script><div style="position:fixed;inset:0" class="backdrop" id="root">styled</div>
<math><mi xlink:href="javascript:alert(8)">m</mi></math><details open ontoggle=alert(9)>details</details>
<a href="x" onmouseover="alert(10)" title=">">quoted</a><img alt=">" src="x" onerror="alert(11)">

| left | right |
|:-----|------:|
| 1    | 2     |

- [x] done
`;

/** A picture of one red dot. */
function dot(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(4);
    frame.writeUInt32BE(data.length);
    // Browsers show pictures with wrong checksums of what they need not have; this one is right.
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(checksum(body));
    return Buffer.concat([frame, body, sum]);
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00000001000000010802000000', 'hex')),
    chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function checksum(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

const USE = 'import { plumTree } from "./plum";\n\nexport const sum = plumTree(5) + plumTree(6);\n';

export interface Browsed {
  readonly url: string;
  /** Name of the repository. */
  readonly name: string;
  readonly otherName: string;
  /** Its first commit, which is not indexed, and the last one of its default branch. */
  readonly first: string;
  readonly commit: string;
}

export const browsed = once(async (): Promise<Browsed> => {
  const other = makeRepo({ 'far.ts': 'const far = plumTree(9);\n' });
  const repo = makeRepo({
    'src/plum.ts': 'export function plumTree() {}\nconst e = "plumTree";\n',
  });
  const first = git(repo, 'rev-parse', 'HEAD');
  writeFiles(repo, {
    'README.md': HOSTILE_README,
    'src/plum.ts':
      '// the tree\nexport function plumTree(count: number) {\n  return count;\n}\nconst e = "plumTree";\n',
    'src/use.ts': USE,
    'src/deep/er/file-view.tsx': 'export const View = 1;\n',
    'odd.txt': 'one \u202Ereversed\u202C\r\ntwo\u200B\rthree \u001B[31m\nfour\n',
    'pic.png': dot(),
    'drawing.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>alert(1)</script><rect width="40" height="30"/></svg>\n',
    'src/guide.md': '# Guide\n\n## A b\n',
    'src/deep/README.rst': 'Deep\n====\n\nSays *little*.\n',
    'bin.dat': Buffer.from('a\0b'.repeat(1000)),
  });
  commitAll(repo, 'all of it');
  const commit = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'checkout', '-q', '-b', 'linked');
  symlinkSync('../../src/guide.md', path.join(repo, 'src/deep/README.md'));
  commitAll(repo, 'a link');
  git(repo, 'update-index', '--add', '--cacheinfo', `160000,${first},libs/inner`);
  git(repo, 'commit', '-q', '-m', 'a submodule');
  git(repo, 'checkout', '-q', 'main');
  const served = await serve(temporaryFolder(), [repo, other]);
  await served.process.until(/ symbols found /, 2);
  const [name, otherName] = [repo, other].map((one) => `local/${path.basename(one)}`);
  return { url: served.url, name: name!, otherName: otherName!, first, commit };
});

/** The address of a file. */
export function blobAddress({ name }: Browsed, file: string, more = '', at = ''): string {
  return `/browse/${name}${at}/-/blob/${file}${more}`;
}

/** Opens a file and waits for its text. */
export async function openCode(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('.cm-content').waitFor();
}
