// A daemon with a repository to browse: sources with names, a hostile README, pictures, older revisions, a symbolic link, a
// submodule; and another repository that uses one of the names.

import { symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { serve } from '../../e2e/daemon.ts';
import {
  commitAll,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { once } from '../../base/once.ts';
import { pageTests } from '../browser.ts';

const HOSTILE_README = `# Hostile <b onclick="alert(1)">bold</b>

<img src=missing onerror="alert(1)"> ![ours](pic.gif) ![tracked](https://evil.example/track.png)
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

\`\`\`constructor
no language
\`\`\`
`;

/** A picture of one dot. */
const DOT = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

const USE = 'import { plumTree } from "./plum";\n\nexport const sum = plumTree(5) + plumTree(6);\n';

/** Address of the daemon, and the names of its repositories. */
export let url = '';
export let name = '';
export let otherName = '';
/** The first commit, which is not indexed, and the last one of the default branch. */
export let first = '';
export let commit = '';

const start = once(async (): Promise<string> => {
  const other = makeRepo({ 'far.ts': 'const far = plumTree(9);\n' });
  const repo = makeRepo({
    'src/plum.ts': 'export function plumTree() {}\nconst e = "plumTree";\n',
  });
  first = git(repo, 'rev-parse', 'HEAD');
  writeFiles(repo, {
    'README.md': HOSTILE_README,
    'src/plum.ts':
      '// the tree\nexport function plumTree(count: number) {\n  return count;\n}\nconst e = "plumTree";\n',
    'src/use.ts': USE,
    'src/deep/er/file-view.tsx': 'export const View = 1;\n',
    'odd.txt': 'one \u202Ereversed\u202C\r\ntwo\u200B\rthree \u001B[31m\nfour\n',
    'pic.gif': DOT,
    'drawing.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>alert(1)</script><rect width="40" height="30"/></svg>\n',
    'src/guide.md': '# Guide\n\n## A b\n',
    'src/deep/README.rst': 'Deep\n====\n\nSays *little*.\n',
    'bin.dat': Buffer.from('a\0b'.repeat(1000)),
  });
  commitAll(repo, 'all of it');
  commit = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'tag', 'same', first);
  git(repo, 'branch', 'same');
  git(repo, 'checkout', '-q', '-b', 'linked');
  symlinkSync('../../src/guide.md', path.join(repo, 'src/deep/README.md'));
  commitAll(repo, 'a link');
  git(repo, 'update-index', '--add', '--cacheinfo', `160000,${first},libs/inner`);
  git(repo, 'commit', '-q', '-m', 'a submodule');
  git(repo, 'branch', 'a-same');
  git(repo, 'checkout', '-q', 'main');
  const served = await serve(temporaryFolder(), [repo, other]);
  await served.process.until(/ symbols found /, 2);
  name = `local/${path.basename(repo)}`;
  otherName = `local/${path.basename(other)}`;
  ({ url } = served);
  return url;
});

export const test = pageTests(start);
/** Two pictures of the README are not there. */
export const documentTest = pageTests(start, { allowed: /404/ });

/** The address of a file. */
export function addressOf(file: string, more = '', at = ''): string {
  return `/browse/${name}${at}/-/blob/${file}${more}`;
}

/** Opens a file and waits for its text. */
export async function openCode(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('.cm-content').waitFor();
}
