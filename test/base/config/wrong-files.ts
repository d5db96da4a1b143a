// Invalid configuration files and their errors; with `isShape` a JSON schema can detect it, too.

export interface WrongFile {
  readonly text: string;
  /** Mistakes in the file `f`, without its name. */
  readonly expected: readonly string[];
  readonly isShape: boolean;
}

const SECRET =
  'expected {"env": "NAME"} or {"file": "path"}, the name of a variable or file that holds the secret; a secret itself is not allowed here';
const ADDRESS = 'expected an http or https address without user, password and query';
const TYPES = 'allowed: github, gitlab, gitea, gerrit, bitbucket, azuredevops, git';
const KEYS =
  'allowed: $schema, settings, connections, contexts, permissions, apps, identityProviders';
const PARTS = 'expected workspace/KEY (cloud) or KEY (server)';

function shape(text: string, ...expected: string[]): WrongFile {
  return { text, expected, isShape: true };
}

/** What depends on more than one key, or is no shape. */
function rule(text: string, ...expected: string[]): WrongFile {
  return { text, expected, isShape: false };
}

/** One connection, its members on lines from 2 on. */
function connection(...members: readonly string[]): string {
  return `{"connections": {"a": {\n${members.join(',\n')}}}}`;
}

function github(...members: readonly string[]): string {
  return connection('"type": "github"', '"orgs": ["x"]', ...members);
}

const TEXTS = [
  rule('', '1: the text: value expected; expected JSON with comments'),
  rule('{\n"settings": {', '2: the text: close brace expected; expected JSON with comments'),
  rule('{\n"settings": {},\n"settings": {}}', '3: settings: given twice in one object'),
  shape('[]', '1: the text: expected an object'),
  rule(
    '{"__proto__": {}}',
    '1: __proto__: not allowed as a key',
    `1: __proto__: no such key; ${KEYS}`,
  ),
  shape('{\n\n"models": {}}', `3: models: no such key; ${KEYS}`),
  shape('{"conections": {}}', '1: conections: no such key; did you mean connections?'),
];

const SETTINGS = [
  shape('{"settings": 5}', '1: settings: 5; expected an object'),
  shape(
    '{\n"settings": {\n"maxMatchCount": 0\n}}',
    '3: settings.maxMatchCount: 0; allowed: integers from 1',
  ),
  shape(
    '{\n"settings": {\n"maxMatchcount": 5\n}}',
    '3: settings.maxMatchcount: no such key; did you mean maxMatchCount?',
  ),
  shape(
    '{"settings": {\n"rateLimit": {"perDay": 5}, "logLevel": "loud",\n"anonymousAccess": "true"}}',
    '2: settings.rateLimit.perDay: no such key; allowed: requestsPerDay, contact',
    '2: settings.logLevel: "loud"; allowed: debug, info, warn, error',
    '3: settings.anonymousAccess: "true"; allowed: true or false',
  ),
  shape('{"settings": {"webhooks": {"secret": "x"}}}', `1: settings.webhooks.secret: ${SECRET}`),
  rule(
    '{"settings": {"trustedProxies": ["x"]}}',
    '1: settings.trustedProxies.0: "x"; allowed: a list of IP addresses and networks such as 10.0.0.0/8',
  ),
];

const PERMISSIONS = [
  shape(
    '{"permissions": {\n"grants": [{\n"to": ["bob"], "repos": ["x"]}]}}',
    '3: permissions.grants.0.to.0: "bob"; expected user:<email>, group:<name> or everyone',
  ),
  shape(
    '{"permissions": {\n"grants": [{"to": ["everyone"],\n"repos": []}]}}',
    '3: permissions.grants.0.repos: empty; give at least one',
  ),
  rule(
    '{"permissions": {"grants": [{"to": ["everyone"],\n"repos": ["h/a/*", "!h/a/b"]}]}}',
    '2: permissions.grants.0.repos.1: "!h/a/b"; grants have no exceptions; name only what this one covers',
  ),
  rule(
    '{"permissions": {"grants": [{"to": ["group:none"], "repos": ["x"]}]}}',
    '1: permissions.grants.0.to.0: "group:none"; there is no such group',
  ),
  shape(
    '{"permissions": {"groups": {"a": ["nobody"]}}}',
    '1: permissions.groups.a.0: "nobody"; expected an e-mail address',
  ),
  shape(
    '{"permissions": {"teams": {}}}',
    '1: permissions.teams: no such key; allowed: groups, grants',
  ),
];

const CONNECTIONS = [
  shape('{"connections": []}', '1: connections: expected an object'),
  shape('{"connections": {"a": 5}}', '1: connections.a: 5; expected an object'),
  shape(
    '{"connections": {"a b": {"type": "github", "orgs": ["x"]}}}',
    '1: connections.a b: a name of letters, digits, _ and - is expected',
  ),
  shape(connection('"type": "guthub"'), `2: connections.a.type: "guthub"; ${TYPES}`),
  shape(connection('"orgs": ["x"]'), `1: connections.a.type: missing; ${TYPES}`),
  shape(github('"ogrs": ["x"]'), '4: connections.a.ogrs: no such key; did you mean orgs?'),
  shape(
    connection('"type": "github"', '"orgs": "x"'),
    '3: connections.a.orgs: "x"; expected a list',
  ),
  shape(
    connection('"type": "github"', '"orgs": ["x", 5, ""]'),
    '3: connections.a.orgs.1: 5; expected a text',
    '3: connections.a.orgs.2: ""; expected a text that is not empty',
  ),
  shape(github('"token": "abc"'), `4: connections.a.token: ${SECRET}`),
  shape(
    github('"token": {"env": "my pass phrase"}'),
    '4: connections.a.token.env: expected the name of a variable that holds the secret',
  ),
  rule(
    github('"token": {"file": "ghp_abc"}'),
    '4: connections.a.token.file: expected the path of a file that holds the secret',
  ),
  shape(github('"repos": ["x"]'), '4: connections.a.repos.0: "x"; expected owner/name'),
  shape(github('"url": "github.com"'), `4: connections.a.url: "github.com"; ${ADDRESS}`),
  shape(
    github('"url": "https://u:p@h/?q"'),
    `4: connections.a.url: "https://(hidden)@h/?(hidden)"; ${ADDRESS}`,
  ),
  shape(
    github('"exclude": {"fork": true}', '"enforcePermissions": "yes"', '"tls": {"caFile": ""}'),
    '4: connections.a.exclude.fork: no such key; did you mean forks?',
    '5: connections.a.enforcePermissions: "yes"; expected true or false',
    '6: connections.a.tls.caFile: ""; expected a text that is not empty',
  ),
  shape(
    github('"exclude": {"size": {"min": -1, "max": 1.5}}'),
    '4: connections.a.exclude.size.min: -1; allowed: numbers from 0',
    '4: connections.a.exclude.size.max: 1.5; expected an integer',
  ),
  rule(
    github('"exclude": {"size": {"min": 5, "max": 1}}'),
    '4: connections.a.exclude.size: min is above max',
  ),
  rule(
    github('"revisions": {"branches": ["refs/heads/x"]}'),
    '4: connections.a.revisions.branches.0: "refs/heads/x"; globs are matched against short names: main, not refs/heads/main',
  ),
  rule(
    connection('"type": "github"'),
    '1: connections.a: selects nothing: give at least one of users, orgs, repos',
  ),
  rule(
    connection('"type": "gitlab"'),
    '1: connections.a: selects nothing: give at least one of all, users, groups, projects',
  ),
  rule(
    connection('"type": "gitlab"', '"all": true'),
    '3: connections.a.all: true; allowed on own servers only: give url, or name users, groups or projects',
  ),
  rule(
    connection('"type": "gitea"'),
    '1: connections.a: selects nothing: give at least one of orgs, users, repos',
  ),
  shape(connection('"type": "gerrit"'), '1: connections.a.url: missing; expected a text'),
  rule(
    connection('"type": "bitbucket"'),
    '1: connections.a: selects nothing: give at least one of all, workspaces, projects, repos',
  ),
  rule(
    connection(
      '"type": "bitbucket"',
      '"deploymentType": "server"',
      '"workspaces": ["w"]',
      '"projects": ["a/b"]',
    ),
    '1: connections.a.url: missing; required for deploymentType server',
    '4: connections.a.workspaces: allowed for deploymentType cloud only; a server has projects',
    `5: connections.a.projects: ${PARTS}`,
  ),
  rule(
    connection('"type": "bitbucket"', '"projects": ["A"]'),
    `3: connections.a.projects: ${PARTS}`,
  ),
  shape(
    connection('"type": "azuredevops"'),
    `1: connections.a.token: missing; ${SECRET}`,
    '1: connections.a.deploymentType: missing; allowed: cloud, server',
  ),
  rule(
    connection('"type": "azuredevops"', '"token": {"env": "A"}', '"deploymentType": "server"'),
    '1: connections.a.url: missing; required for deploymentType server',
  ),
];

const GIT_URL =
  'expected http(s)://, ssh:// or file:///, with %20 for a blank; git:// is refused, as it does not authenticate the host; for git@host:owner/name write ssh://git@host/owner/name';

const GIT = [
  shape(connection('"type": "git"'), '1: connections.a.url: missing; expected a text'),
  shape(
    connection('"type": "git"', '"url": "git@github.com:a/b"'),
    `3: connections.a.url: "git@github.com:a/b"; ${GIT_URL}`,
  ),
  shape(
    connection('"type": "git"', '"url": "git://h/x"'),
    `3: connections.a.url: "git://h/x"; ${GIT_URL}`,
  ),
  rule(
    connection('"type": "git"', '"url": "https://u:p@h/x"'),
    '3: connections.a.url: "https://(hidden)@h/x"; expected an address without a password; it goes to user and token',
  ),
  rule(
    connection(
      '"type": "git"',
      '"url": "file:///srv/*"',
      '"name": "x"',
      '"user": "u"',
      '"token": {"env": "A"}',
    ),
    '4: connections.a.name: "x"; allowed only where the url has no globs',
    '5: connections.a.user: "u"; allowed with an http(s) url only; for ssh write ssh://user@host/path',
    '6: connections.a.token: allowed with an http(s) url only',
  ),
  rule(
    connection('"type": "git"', '"url": "https://h/x"', '"mode": "worktree"', '"ignore": ["a"]'),
    '4: connections.a.mode: "worktree"; worktree is allowed with a file:/// url only',
    '5: connections.a.ignore: allowed with a file:/// url in mode worktree only; .trawlignore holds everywhere',
  ),
];

const OTHERS = [
  rule(
    '{"contexts": {"w": {}}}',
    '1: contexts.w: holds no repository: give at least one of include, includeConnections, includeTopics',
  ),
  shape('{"contexts": {"w": {"include": "x"}}}', '1: contexts.w.include: "x"; expected a list'),
  shape(
    '{"contexts": {"w": {"include": ["x"], "excludes": ["x"]}}}',
    '1: contexts.w.excludes: no such key; did you mean exclude?',
  ),
  shape(
    '{"contexts": {"": {"include": ["x"]}}}',
    '1: contexts.: a name of 1 to 100 characters is expected',
  ),
  shape('{"apps": [{"type": "githubApp", "id": 1}]}', `1: apps.0.privateKey: missing; ${SECRET}`),
  shape(
    '{"apps": [\n{"type": "app", "id": 0,\n"privateKey": {"env": "A"}}]}',
    '2: apps.0.type: "app"; allowed: githubApp',
    '2: apps.0.id: 0; allowed: numbers from 1',
  ),
  rule(
    '{"identityProviders": {"a": {"type": "oidc", "issuer": "https://i", "clientId": "c", "clientSecret": {"env": "A"}, "acceptBearer": true}}}',
    '1: identityProviders.a.audience: missing; required with acceptBearer',
  ),
  shape(
    '{"identityProviders": {"a b": {"type": "oidc", "issuer": "https://i", "clientId": "c", "clientSecret": {"env": "A"}}}}',
    '1: identityProviders.a b: an id of letters, digits, _ and - is expected',
  ),
  shape(
    '{"identityProviders": {"a": {"type": "oidc", "issuer": "https://i", "clientId": "c", "clientSecret": {"env": "A"}, "scopes": "email"}}}',
    '1: identityProviders.a.scopes: "email"; expected openid among them',
  ),
  shape(
    '{"settings": {"memory": 0},\n"permissions": {"groups": 5},\n"connections": {"a": {"type": "git"}, "b": {"type": "github"}}}',
    '1: settings.memory: 0; allowed: integers from 1',
    '2: permissions.groups: 5; expected an object',
    '3: connections.a.url: missing; expected a text',
    '3: connections.b: selects nothing: give at least one of users, orgs, repos',
  ),
];

export const WRONG_FILES: readonly WrongFile[] = [
  ...TEXTS,
  ...SETTINGS,
  ...PERMISSIONS,
  ...CONNECTIONS,
  ...GIT,
  ...OTHERS,
];
