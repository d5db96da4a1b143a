// What every git of the daemon is told, whatever the repository says: a repository comes from somebody else, and its
// configuration can name programs, and files elsewhere. These settings win over its own. Drivers (`diff.<name>.command`,
// `diff.<name>.textconv`, `filter.<name>.*`) have names that only the repository knows: they are kept out by how git is
// asked (`--no-ext-diff --no-textconv`, no command that filters). Fixed settings also mean that equal questions have equal
// answers.

/** Never run: what would be run in its place, which fails at once. */
const NO_PROGRAM = '/bin/false';

export const SETTINGS: readonly string[] = [
  // Programs. No protocol is allowed, so that none of those for a remote is reached (`git.ts`).
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  `core.editor=${NO_PROGRAM}`,
  `core.askPass=${NO_PROGRAM}`,
  `core.sshCommand=${NO_PROGRAM}`,
  `core.gitProxy=${NO_PROGRAM}`,
  `core.alternateRefsCommand=${NO_PROGRAM}`,
  `uploadpack.packObjectsHook=${NO_PROGRAM}`,
  // Empty: forgets those that were named before.
  'credential.helper=',
  'diff.external=',
  'log.showSignature=false',
  'gpg.format=openpgp',
  ...['gpg.program', 'gpg.openpgp.program', 'gpg.x509.program', 'gpg.ssh.program'].map(
    (name) => `${name}=${NO_PROGRAM}`,
  ),
  `gpg.ssh.defaultKeyCommand=${NO_PROGRAM}`,
  // Why: the daemon often reads repositories of another user (mounted folders); the check of the owner guards against
  // exactly those programs.
  'safe.directory=*',
  // Files elsewhere. Those of the account must not change what is indexed.
  'core.excludesFile=/dev/null',
  'core.attributesFile=/dev/null',
  'mailmap.file=/dev/null',
  'mailmap.blob=',
  // Answers.
  'color.ui=false',
  'core.abbrev=auto',
  'core.quotePath=true',
  'core.commitGraph=true',
  'commitGraph.readChangedPaths=true',
  'i18n.logOutputEncoding=UTF-8',
  'log.date=default',
  'log.decorate=short',
  'log.follow=false',
  'log.mailmap=true',
  'log.showRoot=true',
  'diff.suppressBlankEmpty=false',
  'diff.algorithm=default',
  'diff.renames=true',
  'diff.renameLimit=1000',
  'diff.orderFile=/dev/null',
  'diff.noPrefix=false',
  'diff.mnemonicPrefix=false',
];
