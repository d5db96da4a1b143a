#!/usr/bin/env node
// What `trawl` runs, as build/bundle/cli/main.js: one of the bundles beside it (scripts/bundle.mjs), with the code that V8 made of
// it at the build. An installed package has no code, as it runs on several versions of V8: its first search keeps the code in the
// user's cache folder. A search has a bundle of its own, as reading text and code is most of its time. `--version` alone is a
// text that the build has kept: loading the program for it takes twice as long as starting Node.js, and asking ctags for its
// version a fifth as long (`trawl version` does). The loader of modules takes 8 ms, that of scripts none.
// V8 refuses code of another version or of other flags, and the bundle is compiled as usual then. It believes all else that the
// code says, and a flipped bit ends the process: hence the checksum.

const {
  closeSync,
  constants: { O_NOFOLLOW, O_RDONLY },
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} = require('node:fs');

/** Hexadecimal digits of a bundle's name: the comment at its start, and the first field of its code cache. */
const NAME_SIZE = 16;
/** The name, and the checksum of the code cache in 8 hexadecimal digits. */
const HEAD_SIZE = NAME_SIZE + 8;
/** Commands of search-main.ts. */
const SEARCHES = ['search', 'explain'];
/** These take the code of `--help`, which is smaller than that of a daemon. */
const BRIEF = [undefined, 'help', '--help', '-h', 'completion'];
const VERSION = ['--version', '-V'];
/** Code of the search bundle in the user's cache folder. */
const CACHED_FILE = `search-${process.version}-${process.arch}.code`;

const [, , word, ...more] = process.argv;
const isSearch = SEARCHES.includes(word) && !more.some((one) => /^(?:-V|--version$)/.test(one));
const isOfVersions = more.length === 0 && VERSION.includes(word);
if (!isOfVersions || !areVersionsWritten()) runBundle(isSearch ? 'search' : 'trawl');

/** False: there is no such text, or nobody reads it; the program knows what to do. */
function areVersionsWritten() {
  try {
    const text = readFileSync(`${__dirname}/versions.txt`, 'utf8');
    writeSync(1, `${text}${ctagsHere()}\nnode ${process.version}\n`);
    return true;
  } catch {
    return false;
  }
}

/** The file that will be tried first: it is not run here. */
function ctagsHere() {
  for (const folder of (process.env.PATH ?? '').split(':'))
    for (const name of ['ctags', 'ctags-universal', 'universal-ctags', 'uctags'])
      if (folder.startsWith('/') && existsSync(`${folder}/${name}`)) return `, ${folder}/${name}`;
  return '';
}

function runBundle(name) {
  const { pathToFileURL } = require('node:url');
  const { Script } = require('node:vm');
  const filename = `${__dirname}/${name}.cjs`;
  const text = readFileSync(filename, 'latin1');
  const cachedData = codeOf(name, text);
  const script = new Script(text, { filename, cachedData });
  const hasCode = cachedData !== undefined && script.cachedDataRejected === false;
  if (name === 'search' && !hasCode) process.once('exit', () => keepCode(script, text));
  script.runInThisContext()(Object.assign(load, require), pathToFileURL(filename).href);
}

/** `require` of a bundle. In place of what that of searches lacks (WHOLE of scripts/bundle.mjs) the whole program begins. */
function load(name) {
  if (name !== './trawl.cjs') return require(name);
  runBundle('trawl');
  // oxlint-disable-next-line unicorn/no-thenable -- a promise of it never resolves
  return { then() {} };
}

/** What was kept of a run with this very text: V8 compares lengths alone. */
function codeOf(name, text) {
  const ofProgram = BRIEF.includes(word) ? 'help' : 'serve';
  const readBuilt = () => readFileSync(`${__dirname}/${name === 'trawl' ? ofProgram : name}.code`);
  for (const read of name === 'search' ? [readCached, readBuilt] : [readBuilt]) {
    try {
      const kept = read();
      const code = kept.subarray(HEAD_SIZE);
      if (kept.latin1Slice(0, HEAD_SIZE) === headOf(text, code)) return code;
    } catch {
      // There is none.
    }
  }
  return undefined;
}

function headOf(text, code) {
  const { crc32 } = require('node:zlib');
  return text.slice(2, 2 + NAME_SIZE) + crc32(code).toString(16).padStart(8, '0');
}

/** A convenience: where it fails, the next search compiles too. */
function keepCode(script, text) {
  const { HOME: home, XDG_CACHE_HOME: cache } = process.env;
  let started;
  try {
    // Not in the folder of another user, which `sudo` may have left as the home.
    if (statSync(cache || home).uid !== process.getuid()) return;
    mkdirSync(cacheFolder(), { recursive: true, mode: 0o700 });
    const code = script.createCachedData();
    const bytes = Buffer.concat([Buffer.from(headOf(text, code)), code]);
    started = `${ownFolder()}/${CACHED_FILE}.${process.pid}`;
    writeFileSync(started, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(started, `${cacheFolder()}/${CACHED_FILE}`);
  } catch {
    if (started !== undefined) rmSync(started, { force: true });
  }
}

/** Code is run: only a file that nobody else can have written is read. Errors: there is none. */
function readCached() {
  const file = openSync(`${ownFolder()}/${CACHED_FILE}`, O_RDONLY | O_NOFOLLOW);
  try {
    assertOwn(fstatSync(file));
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function ownFolder() {
  const folder = cacheFolder();
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder`);
  assertOwn(stats);
  return folder;
}

function assertOwn({ uid, mode }) {
  const isOthers = uid !== process.getuid() || (mode & 0o22) !== 0;
  if (isOthers) throw new Error('other users can write to it');
}

function cacheFolder() {
  const { HOME: home, XDG_CACHE_HOME: cache } = process.env;
  const folder = cache || `${home}/.cache`;
  if (!folder.startsWith('/')) throw new Error('a relative path');
  return `${folder}/trawl`;
}
