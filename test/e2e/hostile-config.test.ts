// A repository whose configuration names a program in every place git allows, served and queried in every way: none
// of them runs. The author of an archive can write such a configuration.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { call, jobsEnded, search, serve, type Served } from './daemon.ts';

const folder = temporaryFolder();
const dataDir = temporaryFolder();
const marker = path.join(folder, 'marker');
const program = path.join(folder, 'program');
writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${marker}\n`);
chmodSync(program, 0o755);

/** Everything git knows that names a program, or a file that it reads, and what makes git use it. */
const CONFIGURATION = `
[log]
	showSignature = true
	follow = true
	mailmap = true
	decorate = full
[gpg]
	program = ${program}
[gpg "openpgp"]
	program = ${program}
[gpg "ssh"]
	program = ${program}
	defaultKeyCommand = ${program}
	allowedSignersFile = ${program}
[gpg "x509"]
	program = ${program}
[core]
	fsmonitor = ${program}
	hooksPath = ${path.join(folder, 'hooks')}
	pager = ${program}
	editor = ${program}
	sshCommand = ${program}
	askPass = ${program}
	gitProxy = ${program}
	alternateRefsCommand = ${program}
	untrackedCache = true
[pager]
	log = ${program}
	blame = ${program}
	config = ${program}
[credential]
	helper = !${program}
[uploadpack]
	packObjectsHook = ${program}
[diff]
	external = ${program}
	mnemonicPrefix = true
[diff "evil"]
	command = ${program}
	textconv = ${program}
[filter "evil"]
	clean = ${program}
	smudge = ${program}
	process = ${program}
	required = true
[merge "evil"]
	driver = ${program}
[alias]
	log = !${program}
	cat-file = !${program}
[trace2]
	normalTarget = ${marker}
[extensions]
	partialClone = evil
[remote "evil"]
	promisor = true
	partialCloneFilter = blob:none
	url = ext::${program} %S
	vcs = ${program}
	uploadpack = ${program}
[remote "origin"]
	promisor = true
	url = ssh://host.example/evil.git
[blame]
	ignoreRevsFile = ${path.join(folder, 'nothing')}
`;

/** The last commit looks signed, an object is missing, and each file has drivers. */
function evilRepo(): string {
  const repo = makeRepo({
    'a.txt': 'plum one\n',
    'gone.txt': 'plum gone\n',
    '.gitattributes': '* diff=evil filter=evil merge=evil\n',
  });
  writeFiles(repo, { 'a.txt': 'plum two\n' });
  commitAll(repo, 'second');
  const plain = git(repo, 'cat-file', 'commit', 'HEAD');
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n';
  const signed = `${plain.replace('\n\n', `\n${signature}`)}\n`;
  const args = ['hash-object', '-w', '-t', 'commit', '--stdin', '--literally'];
  const id = spawnSync('git', args, { cwd: repo, input: signed }).stdout.toString().trim();
  git(repo, 'update-ref', 'HEAD', id);
  git(repo, 'tag', '-a', '-m', 'm', 'inner', id);
  git(repo, 'tag', '-a', '-m', 'm', 'outer', 'inner');
  const gone = git(repo, 'rev-parse', 'HEAD:gone.txt');
  rmSync(path.join(repo, '.git/objects', gone.slice(0, 2), gone.slice(2)));
  writeFiles(
    folder,
    Object.fromEntries(
      ['post-index-change', 'reference-transaction'].map((name) => [
        `hooks/${name}`,
        readFileSync(program),
      ]),
    ),
  );
  for (const name of ['post-index-change', 'reference-transaction'])
    chmodSync(path.join(folder, 'hooks', name), 0o755);
  appendFileSync(path.join(repo, '.git/config'), CONFIGURATION);
  return repo;
}

const repo = evilRepo();
let served: Served;
before(async () => {
  served = await serve(dataDir, [repo], { flags: ['--branches', '**', '--tags', '**'] });
  await jobsEnded(served, 1);
});
after(() => served.process.stop());

test('no program named by a repository runs, for any request', async () => {
  const repoName = (await search(served.url, 'plum')).files[0]?.repository;
  assert.ok(repoName !== undefined, served.process.stderr);
  const requested: string[] = [];
  const sendQuery = async (
    name: string,
    query: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const answer = await call(`${served.url}/api/${name}?${new URLSearchParams(query).toString()}`);
    requested.push(`${name} ${answer.status}`);
  };
  for (const ref of ['main', 'outer', 'HEAD~1', 'main^{/second}']) {
    for (const file of ['a.txt', 'gone.txt']) {
      await sendQuery('source', { repo: repoName, path: file, ref });
      await sendQuery('blame', { repo: repoName, path: file, ref });
      await sendQuery('commits', { repo: repoName, path: file, ref });
      await sendQuery('commits/authors', { repo: repoName, path: file, ref });
      await sendQuery('diff', { repo: repoName, base: 'HEAD~1', head: ref, path: file });
    }
    await sendQuery('commit', { repo: repoName, ref });
    await sendQuery('commits', { repo: repoName, ref, author: 'a', query: 'second' });
    await sendQuery('folder_contents', { repoName, revisionName: ref, path: '' });
  }
  await sendQuery('refs', { repo: repoName });
  for (const name of ['files', 'tree'])
    await call(`${served.url}/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ repoName, revisionName: 'main', paths: ['a.txt'] }),
    });
  assert.ok(
    requested.includes('blame 200') &&
      requested.includes('diff 200') &&
      requested.includes('commit 200'),
    requested.join(),
  );
  assert.equal(existsSync(marker) ? readFileSync(marker, 'utf8') : '', '');
});
