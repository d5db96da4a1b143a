// Checks of `trawl doctor` on this machine: Node.js, programs, limits, mappings, disk, rights. They change nothing.

import { access, constants, readFile, realpath, stat, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { messageOf, systemCodeOf } from '../base/caught.ts';
import { readNodeVersionMin } from '../base/config/version.ts';
import { canMap, mappingLimit } from '../engine/host/mapping.ts';
import { mappingWarning } from '../engine/host/mapping-budget.ts';
import type { ShardFile } from '../engine/host/space.ts';
import { enginesHere } from '../engine/symbols/extractor.ts';
import { checkSpace } from '../hosts/mirrors/free-space.ts';
import { gitVersion } from '../sources/git/git.ts';
import { fine, type Outcome, problem, warning } from './doctor-outcome.ts';
import { formatBytes, formatCount } from './format.ts';

export async function checkNode(): Promise<Outcome[]> {
  const { node } = process.versions;
  const least = readNodeVersionMin();
  if (isBefore(node.split('.').map(Number), least.split('.').map(Number)))
    return [problem(`Node.js ${node} runs this`, `install Node.js ${least} or later`)];
  return [fine(`Node.js ${node}, ${process.platform} ${process.arch}`)];
}

function isBefore([major = 0, minor = 0]: number[], [leastMajor = 0, leastMinor = 0]: number[]) {
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** Source: `--end-of-options` is of git 2.24, `safe.directory=*` of 2.35.3; older versions of systems got both as fixes. */
const GIT_MIN = [2, 30];

export async function checkGit(): Promise<Outcome[]> {
  const remedy = `install git ${GIT_MIN.join('.')} or later, in PATH of the daemon's account`;
  try {
    const version = await gitVersion();
    const says = `git ${version.join('.')}`;
    return [isBefore(version, GIT_MIN) ? problem(says, remedy) : fine(says)];
  } catch (error) {
    return [problem(messageOf(error), remedy)];
  }
}

export async function checkSymbols(): Promise<Outcome[]> {
  const engines = await enginesHere();
  const names = engines.map(({ name, version }) => `${name} ${version}`).join(', ');
  if (!engines.some(({ name }) => name === 'tree-sitter'))
    return [
      warning(
        'the parsers of the package cannot be loaded: symbols are found by patterns',
        REINSTALL,
      ),
    ];
  const more = engines.some(({ name }) => name === 'ctags')
    ? ''
    : '; universal-ctags, if installed, would add languages';
  return [fine(`${names}${more}`)];
}

const REINSTALL = 'install the package again, with its optional dependencies';

/** Measured 2026-12-01: 66 at rest, and one for each connection; the rest is for git processes (three each) and shards being opened. */
const OPEN_FILES_WANTED = 8_192;
const OPEN_FILES_MIN = 1_024;

/** Of the daemon if one runs on this machine, else of this process, which has those of its shell. */
export async function checkLimits(dataDir: string): Promise<Outcome[]> {
  if (process.platform !== 'linux') return [fine('not known on this system')];
  const owner = await ownerOf(dataDir);
  const text = await limitsOf(String(owner ?? 'self')).catch(() => limitsOf('self'));
  const of = owner === undefined ? 'of this process' : `of the daemon, process ${owner}`;
  // Node.js raises the soft limit of open files to the hard one.
  const files = limitOf(text, 'Max open files', 'hard');
  const space = limitOf(text, 'Max address space', 'soft');
  const says = `open files ${String(files)} ${of}`;
  const remedy = `raise it to ${OPEN_FILES_WANTED}: LimitNOFILE= of a systemd unit, --ulimit nofile= of a container, or ulimit -n`;
  const outcomes = [
    files < OPEN_FILES_MIN
      ? problem(says, remedy)
      : files < OPEN_FILES_WANTED
        ? warning(says, remedy)
        : fine(`${says}; no memory is locked, so that limit does not matter`),
  ];
  if (space < Infinity)
    outcomes.push(
      problem(
        `the address space ${of} is limited to ${formatBytes(space)}, and WebAssembly reserves more`,
        'remove that limit (LimitAS= of a unit, ulimit -v), and limit memory by MemoryMax= or the container',
      ),
    );
  return outcomes;
}

function limitsOf(process: string): Promise<string> {
  return readFile(`/proc/${process}/limits`, 'latin1');
}

function limitOf(text: string, name: string, kind: 'soft' | 'hard'): number {
  const [, soft, hard] = new RegExp(`^${name} +(\\S+) +(\\S+)`, 'm').exec(text) ?? [];
  const value = kind === 'soft' ? soft : hard;
  return value === undefined || value === 'unlimited' ? Infinity : Number(value);
}

/** The process that owns the data directory, if it is one of this machine. */
async function ownerOf(dataDir: string): Promise<number | undefined> {
  const text = await readFile(path.join(dataDir, 'lock'), 'utf8').catch(() => '');
  const [pid, host] = text.trim().split(' ');
  return host === hostname() && /^\d+$/.test(pid ?? '') ? Number(pid) : undefined;
}

/** The default of Linux. */
const MAPPINGS_WANTED = 65_530;

/** @param shards  those of the index; none: there is no index yet */
export async function checkMappings(
  shards: readonly ShardFile[],
  threadCount: number,
): Promise<Outcome[]> {
  if (process.platform !== 'linux') return [fine('shards are read into memory on this system')];
  if (!canMap()) return [warning('files cannot be mapped: shards are read into memory', REINSTALL)];
  const limit = mappingLimit() ?? Infinity;
  const short = mappingWarning(shards, threadCount);
  if (short !== undefined) return [warning(short)];
  if (limit < MAPPINGS_WANTED)
    return [
      warning(`vm.max_map_count is ${limit}`, `sysctl -w vm.max_map_count=${MAPPINGS_WANTED}`),
    ];
  return [fine(`vm.max_map_count is ${limit}, for ${formatCount(shards.length)} shards`)];
}

/** Kinds of file systems where mapped files, or locks, depend on another machine. */
const NETWORK =
  /^(?:nfs|cifs|smb|ceph|afs|9p|lustre|gpfs|beegfs|glusterfs|fuse\.(?:sshfs|gluster|ceph|s3fs|rclone|gcsfuse))/;
/** Kinds whose content ends before the disk does. */
const BRIEF: Readonly<Record<string, string>> = {
  tmpfs: 'which ends with the machine',
  ramfs: 'which ends with the machine',
  overlay: 'the layer of a container, which ends with it',
};

/** Space and kind of the file system of the data directory, which may not exist yet. */
export async function checkDisk(dataDir: string): Promise<Outcome[]> {
  const folder = await nearestFolder(dataDir);
  const kind = await fileSystemOf(await realpath(folder));
  const { bavail, bsize } = await statfs(folder);
  const says = `${folder}: ${formatBytes(bavail * bsize)} free${kind === undefined ? '' : `, ${kind}`}`;
  const outcomes: Outcome[] = [];
  if (NETWORK.test(kind ?? ''))
    outcomes.push(
      problem(
        `${folder} is on ${kind}: if the other machine does not answer, a search ends the daemon, and its locks may fail`,
        'put the data directory on a local disk; repositories may stay',
      ),
    );
  const ends = BRIEF[kind ?? ''];
  if (ends !== undefined)
    outcomes.push(warning(`${folder} is on ${kind}, ${ends}`, 'put it on a disk or a volume'));
  try {
    await checkSpace(folder);
  } catch (error) {
    outcomes.push(problem(messageOf(error)));
  }
  return outcomes.length > 0 ? outcomes : [fine(says)];
}

async function nearestFolder(folder: string): Promise<string> {
  for (let at = folder; ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found?.isDirectory() === true || at === path.dirname(at)) return at;
  }
}

/** Its kind; undefined: unknown here. Source: proc_pid_mountinfo(5). */
async function fileSystemOf(folder: string): Promise<string | undefined> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  let [place, kind]: [string, string | undefined] = ['', undefined];
  for (const line of text.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const at = (before.split(' ')[4] ?? '').replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    );
    const isAbove = folder === at || folder.startsWith(at === '/' ? at : `${at}/`);
    // A later mount covers an earlier one at the same place.
    if (at !== '' && isAbove && at.length >= place.length)
      [place, kind] = [at, after.split(' ')[0]];
  }
  return kind;
}

/** Others may do something. */
const OTHERS = 0o007;

/** @param secrets  files that hold secrets */
export async function checkRights(dataDir: string, secrets: readonly string[]): Promise<Outcome[]> {
  const outcomes = [...(await ownRights(dataDir))];
  for (const file of secrets) {
    const found = await stat(file).catch(() => undefined);
    if (found !== undefined && (found.mode & OTHERS) !== 0)
      outcomes.push(
        warning(`${file} holds a secret, and all accounts may read it`, `chmod o= ${file}`),
      );
  }
  const count =
    secrets.length === 0 ? '' : `; ${formatCount(secrets.length)} files of secrets keep them out`;
  if (outcomes.length > 0) return outcomes;
  const isThere = (await nearestFolder(dataDir)) === dataDir;
  const says = isThere ? 'keeps out other accounts' : 'is not there yet, and can be made';
  return [fine(`${dataDir} ${says}${count}`)];
}

async function ownRights(dataDir: string): Promise<Outcome[]> {
  const folder = await nearestFolder(dataDir);
  const account = process.getuid?.() ?? -1;
  const { uid, mode } = await stat(folder);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const says = `account ${account} cannot write in ${folder} (${systemCodeOf(error)})`;
    return [
      problem(says, `chown it to the daemon's account, or run this as that account (${uid})`),
    ];
  }
  if (folder !== dataDir) return [];
  if (account === 0 && uid !== 0)
    return [
      warning(
        `${dataDir} belongs to account ${uid}, and root runs this`,
        'run commands as the account of the daemon, or it may find files that it cannot open',
      ),
    ];
  return (mode & OTHERS) === 0
    ? []
    : [warning(`other accounts may enter ${dataDir}`, `chmod o= ${dataDir}`)];
}
