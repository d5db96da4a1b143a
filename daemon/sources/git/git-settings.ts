// Settings passed to every git of the daemon: a repository is untrusted, and its configuration can name programs, and files
// elsewhere. These settings beat its own. Drivers (`diff.<name>.command`, `diff.<name>.textconv`, `filter.<name>.*`) have
// names that only the repository knows: options prevent them (`--no-ext-diff --no-textconv`, no command that filters).
// Fixed settings also make equal requests have equal answers.

/** Run in place of a program; fails at once. */
const NO_PROGRAM = '/bin/false';

export const SETTINGS: readonly string[] = [
  // Programs. No protocol is allowed, so none of the remote helpers runs (`git.ts`).
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  `core.editor=${NO_PROGRAM}`,
  `core.askPass=${NO_PROGRAM}`,
  `core.sshCommand=${NO_PROGRAM}`,
  `core.gitProxy=${NO_PROGRAM}`,
  `core.alternateRefsCommand=${NO_PROGRAM}`,
  `uploadpack.packObjectsHook=${NO_PROGRAM}`,
  // Empty: clears the helpers named before.
  'credential.helper=',
  'diff.external=',
  'log.showSignature=false',
  'gpg.format=openpgp',
  ...['gpg.program', 'gpg.openpgp.program', 'gpg.x509.program', 'gpg.ssh.program'].map(
    (name) => `${name}=${NO_PROGRAM}`,
  ),
  `gpg.ssh.defaultKeyCommand=${NO_PROGRAM}`,
  // Why: the daemon often reads repositories of another user (mounted folders); the owner check guards against exactly
  // those programs.
  'safe.directory=*',
  // Files elsewhere. Those of the account must not affect the index.
  'core.excludesFile=/dev/null',
  'core.attributesFile=/dev/null',
  'mailmap.file=/dev/null',
  'mailmap.blob=',
  // Output format.
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
