// Webhooks of code hosts: signatures, and the repository that an event names. Payloads have the documented members,
// cut to the relevant ones.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { SecretText } from '../../daemon/base/config/secret-text.ts';
import {
  readWebhook,
  type Delivery,
  type WebhookRepository,
  type Webhook,
} from '../../daemon/hosts/webhook.ts';
import { SEED } from '../seed.ts';

const SECRET = 'the secret of the hook';

function hmac(body: string | Uint8Array, secret = SECRET, algorithm = 'sha256'): string {
  return createHmac(algorithm, secret).update(body).digest('hex');
}

function read(headers: Record<string, string>, body: string | Uint8Array): Webhook | undefined {
  return readWebhook({ headers, body: Buffer.from(body) }, new SecretText(SECRET));
}

function pushedIn(webhook: Webhook | undefined): WebhookRepository | undefined {
  return webhook?.change?.isPush === true ? webhook.change.repository : undefined;
}

const COMMON = {
  ref: 'refs/heads/main',
  before: '28e1879d029cb852e4844d9c718537df08844e03',
  after: 'bffeb74224043ba2feb48d137756c8a9331c449a',
};
const githubRepository = {
  id: 35129377,
  name: 'public-repo',
  full_name: 'baxter/public-repo',
  html_url: 'https://github.com/baxter/public-repo',
  clone_url: 'https://github.com/baxter/public-repo.git',
  ssh_url: 'git@github.com:baxter/public-repo.git',
};
const github = JSON.stringify({
  ...COMMON,
  commits: [{ id: COMMON.after }],
  repository: githubRepository,
});
const gitea = JSON.stringify({
  ...COMMON,
  repository: {
    id: 140,
    full_name: 'gitea/webhooks',
    html_url: 'http://localhost:3000/gitea/webhooks',
    ssh_url: 'ssh://gitea@localhost:2222/gitea/webhooks.git',
    clone_url: 'http://localhost:3000/gitea/webhooks.git',
  },
});
const gitlabProject = {
  id: 15,
  name: 'Diaspora',
  web_url: 'https://example.com/mike/sub/diaspora',
  git_ssh_url: 'git@example.com:mike/sub/diaspora.git',
  git_http_url: 'https://gitlab.example.com:8443/mike/sub/diaspora.git',
  path_with_namespace: 'mike/sub/diaspora',
};
const gitlab = (event: string): string =>
  JSON.stringify({
    object_kind: 'push',
    event_name: event,
    ...COMMON,
    project_id: 15,
    project: gitlabProject,
  });
const bitbucketCloud = JSON.stringify({
  push: { changes: [] },
  repository: {
    type: 'repository',
    uuid: '{673a6070-3421-46c9-9d48-90745f7bfe8e}',
    full_name: 'team_name/repo_name',
    links: { html: { href: 'https://bitbucket.org/team_name/repo_name' } },
  },
});
const bitbucketServer = (links?: unknown): string =>
  JSON.stringify({
    eventKey: 'repo:refs_changed',
    repository: {
      slug: 'repository',
      id: 84,
      name: 'repository',
      project: { key: 'PROJ', id: 84 },
      links,
    },
    changes: [],
  });

const GITHUB_PUSH = {
  codeHostType: 'github',
  hosts: ['github.com'],
  hostId: '35129377',
  path: 'baxter/public-repo',
  cloneUrls: ['https://github.com/baxter/public-repo.git', 'git@github.com:baxter/public-repo.git'],
};
const GITLAB_PUSH = {
  codeHostType: 'gitlab',
  hosts: ['example.com', 'gitlab.example.com:8443'],
  hostId: '15',
  path: 'mike/sub/diaspora',
  cloneUrls: [gitlabProject.git_http_url, gitlabProject.git_ssh_url],
};

test('the time of a push, where the host says it', () => {
  const timeIn = (event: Record<string, string>, payload: object): number | undefined => {
    const body = JSON.stringify(payload);
    return read({ ...event, 'x-hub-signature-256': `sha256=${hmac(body)}` }, body)?.change
      ?.pushedAt;
  };
  const onGithub = (pushedAt: unknown): number | undefined =>
    timeIn(
      { 'x-github-event': 'push' },
      { repository: { ...githubRepository, pushed_at: pushedAt } },
    );
  assert.equal(onGithub(1_767_225_600), Date.UTC(2026, 0, 1));
  assert.equal(onGithub('2026-01-01T00:00:00Z'), Date.UTC(2026, 0, 1));
  for (const other of [undefined, null, 'soon', {}, '']) assert.equal(onGithub(other), undefined);
  const server = JSON.parse(bitbucketServer()) as object;
  const date = '2026-01-01T10:00:00+1000';
  const onBitbucket = { 'x-event-key': 'repo:refs_changed' };
  assert.equal(timeIn(onBitbucket, { ...server, date }), Date.UTC(2026, 0, 1));
  assert.equal(timeIn(onBitbucket, server), undefined);
});

test('GitHub: a push, as JSON and in a form', () => {
  const event = { 'x-github-event': 'push' };
  assert.deepEqual(read({ ...event, 'x-hub-signature-256': `sha256=${hmac(github)}` }, github), {
    event: 'push',
    change: { repository: GITHUB_PUSH, isPush: true, visibility: undefined },
  });
  const form = new URLSearchParams({ payload: github }).toString();
  const headers = {
    ...event,
    'content-type': 'application/x-www-form-urlencoded',
    'x-hub-signature-256': `sha256=${hmac(form)}`,
  };
  assert.deepEqual(pushedIn(read(headers, form)), GITHUB_PUSH);
});

test('GitHub, Gitea and Forgejo: creating or deleting a branch or tag is a push, other events are not', () => {
  const proof = { 'x-hub-signature-256': `sha256=${hmac(github)}` };
  for (const name of ['x-github-event', 'x-gitea-event', 'x-forgejo-event'])
    for (const event of ['create', 'delete', 'repository', 'issues']) {
      const change = read({ ...proof, [name]: event }, github)?.change;
      assert.equal(change?.isPush, event === 'create' || event === 'delete', `${name} ${event}`);
      assert.equal(change.repository.path, GITHUB_PUSH.path);
    }
});

test('Gitea and Forgejo: a push, also under the headers of GitHub', () => {
  const own = {
    codeHostType: 'gitea',
    hosts: ['localhost:3000'],
    hostId: '140',
    path: 'gitea/webhooks',
    cloneUrls: [
      'http://localhost:3000/gitea/webhooks.git',
      'ssh://gitea@localhost:2222/gitea/webhooks.git',
    ],
  };
  for (const name of ['x-gitea-event', 'x-forgejo-event']) {
    const headers = { 'x-github-event': 'push', 'x-gogs-event': 'push', [name]: 'push' };
    for (const proof of [
      { 'x-gitea-signature': hmac(gitea) },
      { 'x-hub-signature-256': `sha256=${hmac(gitea)}` },
    ])
      assert.deepEqual(pushedIn(read({ ...headers, ...proof }, gitea)), own);
  }
});

test('GitLab: pushes of branches and tags, of a project and of a whole server', () => {
  for (const [header, event] of [
    ['Push Hook', 'push'],
    ['Tag Push Hook', 'tag_push'],
    ['System Hook', 'repository_update'],
  ] as const) {
    const headers = { 'x-gitlab-event': header, 'x-gitlab-token': SECRET };
    assert.deepEqual(pushedIn(read(headers, gitlab(event))), GITLAB_PUSH, header);
  }
  const other = { 'x-gitlab-event': 'System Hook', 'x-gitlab-token': SECRET };
  assert.equal(read(other, gitlab('project_create'))?.change?.isPush, false);
});

test('Bitbucket: a push in the cloud, and one on a server, possibly without an address', () => {
  const read1 = (event: string, body: string): Webhook | undefined =>
    read({ 'x-event-key': event, 'x-hub-signature': `sha256=${hmac(body)}` }, body);
  assert.deepEqual(pushedIn(read1('repo:push', bitbucketCloud)), {
    codeHostType: 'bitbucketCloud',
    hosts: ['bitbucket.org'],
    hostId: '{673a6070-3421-46c9-9d48-90745f7bfe8e}',
    path: 'team_name/repo_name',
    cloneUrls: [],
  });
  const server = { codeHostType: 'bitbucketServer', hostId: '84', path: 'PROJ/repository' };
  const bare = { ...server, hosts: [], cloneUrls: [] };
  assert.deepEqual(pushedIn(read1('repo:refs_changed', bitbucketServer())), bare);
  assert.deepEqual(pushedIn(read1('repo:refs_changed', bitbucketServer('none'))), bare);
  const href = 'https://git.example.com:7990/scm/proj/repository.git';
  const linked = bitbucketServer({ clone: [{ href, name: 'http' }] });
  assert.deepEqual(pushedIn(read1('mirror:repo_synchronized', linked)), {
    ...server,
    hosts: ['git.example.com:7990'],
    cloneUrls: [href],
  });
});

test('other and malformed events are verified and change nothing', () => {
  for (const [event, body] of [
    ['ping', '{"zen": ""}'],
    ['push', '{"repository": {"id": 1'],
    ['push', '[]'],
    ['push', '{"repository": {"id": -1, "full_name": "a/b"}}'],
    ['push', '{"repository": {"id": 1, "full_name": ""}}'],
    ['push', JSON.stringify({ repository: { id: 1, full_name: '\u9577'.repeat(700) } })],
    ['push', ''],
    ['push', '['.repeat(200_000)],
  ] as const) {
    const headers = { 'x-github-event': event, 'x-hub-signature-256': `sha256=${hmac(body)}` };
    assert.deepEqual(read(headers, body), { event }, body.slice(0, 60));
  }
  const long = JSON.stringify({ repository: { id: 1, full_name: 'a'.repeat(2_000) } });
  const onGithub = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${hmac(long)}` };
  assert.equal(read(onGithub, long)?.change?.repository.path?.length, 2_000);
  const nameless = { 'x-hub-signature-256': `sha256=${hmac(github)}` };
  assert.deepEqual(read(nameless, github), { event: '' });
});

test('any event can report that a repository is not public', () => {
  const visibilityOf = (
    headers: Record<string, string>,
    payload: string,
    more: object,
    member = 'repository',
  ): string | undefined => {
    const whole = JSON.parse(payload) as Record<string, object>;
    const body = JSON.stringify({ ...whole, [member]: { ...whole[member], ...more } });
    const proof = { 'x-hub-signature-256': `sha256=${hmac(body)}` };
    return read({ ...proof, ...headers }, body)?.change?.visibility;
  };
  const [onGithub, onGitea] = [{ 'x-github-event': 'repository' }, { 'x-gitea-event': 'push' }];
  assert.equal(
    visibilityOf(onGithub, github, { private: true, visibility: 'internal' }),
    'internal',
  );
  assert.equal(visibilityOf(onGithub, github, { private: true, visibility: 'private' }), 'private');
  assert.equal(visibilityOf(onGithub, github, { private: false, visibility: 'public' }), undefined);
  assert.equal(visibilityOf(onGithub, github, { private: 'yes', visibility: 7 }), undefined);
  assert.equal(visibilityOf(onGitea, gitea, { private: true, internal: false }), 'private');
  assert.equal(visibilityOf(onGitea, gitea, { private: false, internal: true }), 'private');
  for (const [visibility, expected] of [
    ['private', 'private'],
    ['limited', 'internal'],
    ['public', undefined],
    ['newer', 'private'],
  ] as const)
    assert.equal(visibilityOf(onGitea, gitea, { private: false, owner: { visibility } }), expected);
  const onGitlab = { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': SECRET };
  for (const [level, visibility] of [
    [0, 'private'],
    [10, 'internal'],
    [20, undefined],
  ] as const)
    assert.equal(
      visibilityOf(onGitlab, gitlab('push'), { visibility_level: level }, 'project'),
      visibility,
    );
  const onBitbucket = { 'x-event-key': 'repo:updated' };
  assert.equal(visibilityOf(onBitbucket, bitbucketCloud, { is_private: true }), 'private');
  assert.equal(visibilityOf(onBitbucket, bitbucketServer(), { public: false }), 'private');
  assert.equal(visibilityOf(onBitbucket, bitbucketServer(), { public: true }), undefined);
  const inPublicProject = { public: false, project: { key: 'PROJ', public: true } };
  assert.equal(visibilityOf(onBitbucket, bitbucketServer(), inPublicProject), undefined);
  const { repository, ...server } = JSON.parse(bitbucketServer()) as { repository: object };
  const modified = JSON.stringify({
    ...server,
    old: { ...repository, public: true },
    new: repository,
  });
  const event = { 'x-event-key': 'repo:modified' };
  assert.equal(visibilityOf(event, modified, { public: false }, 'new'), 'private');
});

const WRONG: Readonly<Record<string, Record<string, string>>> = {
  none: {},
  'that of another secret': { 'x-hub-signature-256': `sha256=${hmac(github, 'guess')}` },
  'that of no secret': { 'x-hub-signature-256': `sha256=${hmac(github, '')}` },
  'that of another body': { 'x-hub-signature-256': `sha256=${hmac(`${github} `)}` },
  'SHA-1, right as it is': { 'x-hub-signature': `sha1=${hmac(github, SECRET, 'sha1')}` },
  'without the name of the algorithm': { 'x-hub-signature-256': hmac(github) },
  'with more behind it': { 'x-hub-signature-256': `sha256=${hmac(github)}0` },
  half: { 'x-hub-signature-256': `sha256=${hmac(github).slice(0, 32)}` },
  empty: { 'x-hub-signature-256': '', 'x-gitea-signature': '' },
  'no digits': { 'x-gitea-signature': 'z'.repeat(64) },
  'a token that is not the secret': { 'x-gitlab-token': `${SECRET}!` },
  'an empty token': { 'x-gitlab-token': '' },
  'a wrong token beside a right signature': {
    'x-gitlab-token': 'guess',
    'x-hub-signature-256': `sha256=${hmac(github)}`,
  },
};

for (const [name, headers] of Object.entries(WRONG)) {
  test(`no valid signature: ${name}`, () => {
    assert.equal(read({ 'x-github-event': 'push', ...headers }, github), undefined);
  });
}

test('without a secret nothing is verified', () => {
  const headers = { 'x-github-event': 'push' };
  for (const proof of [
    { 'x-hub-signature-256': `sha256=${hmac(github, '')}` },
    { 'x-gitlab-token': '' },
  ]) {
    const delivery = { headers: { ...headers, ...proof }, body: Buffer.from(github) };
    assert.equal(readWebhook(delivery, new SecretText('')), undefined);
  }
});

test('property: a delivery changed in one bit is not verified, and none throws', () => {
  fc.assert(
    fc.property(fc.nat({ max: 8 * github.length - 1 }), (at) => {
      const body = Buffer.from(github);
      body[at >> 3]! ^= 1 << (at & 7);
      const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${hmac(github)}` };
      assert.equal(read(headers, body), undefined);
    }),
    { seed: SEED },
  );
  fc.assert(
    fc.property(
      fc.json(),
      fc.constantFrom('push', 'repo:push', 'repo:refs_changed'),
      (json, event) => {
        const signature = { 'x-hub-signature-256': `sha256=${hmac(json)}` };
        for (const name of ['x-github-event', 'x-gitea-event', 'x-gitlab-event', 'x-event-key']) {
          const delivery: Delivery = {
            headers: { ...signature, [name]: event },
            body: Buffer.from(json),
          };
          assert.equal(readWebhook(delivery, new SecretText(SECRET))?.event, event);
        }
      },
    ),
    { seed: SEED },
  );
});
