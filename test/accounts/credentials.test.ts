// Credentials: their formats, what is stored of them, which of several in a request counts, cookies.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  SESSION_MS,
  endedSessionCookie,
  hashCredential,
  makeCredential,
  makeSecretValue,
  presentedCredentials,
  sessionCookie,
} from '../../daemon/accounts/credentials.ts';

const HEX = '0123456789abcdef'.repeat(4);
const KEY = `svk_${HEX}`;
const TOKEN = `svst_${HEX}`;
const OAUTH = `svoa_${HEX}`;

test('generated credentials have the documented form and are unique', () => {
  for (const [make, form] of [
    [() => makeCredential('api_key'), /^svk_[0-9a-f]{64}$/],
    [() => makeCredential('scoped_access_token'), /^svst_[0-9a-f]{64}$/],
    [makeSecretValue, /^[0-9a-f]{64}$/],
  ] as const) {
    const made = new Set(Array.from({ length: 50 }, make));
    assert.equal(made.size, 50);
    for (const one of made) assert.match(one, form);
  }
});

test('only the HMAC under the instance secret is stored', () => {
  const secret = Buffer.from('a secret of this instance, 32 bytes');
  const expected = createHmac('sha256', secret).update(KEY).digest('hex');
  assert.equal(hashCredential(secret, KEY), expected);
  assert.notEqual(hashCredential(Buffer.from('another'), KEY), expected);
  assert.match(expected, /^[0-9a-f]{64}$/);
});

type Headers = Readonly<Record<string, string>>;

/** What the headers present, each as its source and the first two digits after the prefix. */
function presented(headers: Headers, aliases: readonly string[] = []): string[] {
  return presentedCredentials(new Map(Object.entries(headers)), aliases).map(
    ({ source, scheme, value }) =>
      `${source}${scheme === undefined ? '' : ` ${scheme}`} ${value.replace(/^sv[a-z]+_/, '').slice(0, 2)}`,
  );
}

const other = (prefix: string, digits: string): string =>
  prefix + digits + HEX.slice(digits.length);

const REQUESTS: readonly (readonly [name: string, headers: Headers, expected: string[]])[] = [
  ['nothing', {}, []],
  ['key as bearer', { authorization: `Bearer ${KEY}` }, ['api_key bearer 01']],
  ['scheme in any case', { authorization: `bEARER  ${KEY} ` }, ['api_key bearer 01']],
  ['key in its header', { 'x-service-api-key': KEY }, ['api_key 01']],
  ['blanks around', { 'x-service-api-key': ` ${KEY} ` }, ['api_key 01']],
  ['scoped token', { authorization: `Bearer ${TOKEN}` }, ['scoped_access_token bearer 01']],
  ['OAuth token', { authorization: `Bearer ${OAUTH}` }, ['oauth bearer 01']],
  ['OAuth token with proof', { authorization: `DPoP ${OAUTH}` }, ['oauth dpop 01']],
  ['session', { cookie: `trawl_session=${HEX}` }, ['session 01']],
  [
    'all of them, in order',
    {
      'x-service-api-key': other('svk_', 'cc'),
      authorization: `Bearer ${other('svk_', 'bb')}`,
      cookie: `trawl_session=${other('', 'aa')}`,
    },
    ['session aa', 'api_key bearer bb', 'api_key cc'],
  ],
  [
    'a bearer that is no key gives way to the header',
    { authorization: 'Bearer something', 'x-service-api-key': KEY },
    ['api_key 01'],
  ],
  [
    'another scheme gives way to the header',
    { authorization: `Basic ${KEY}`, 'x-service-api-key': KEY },
    ['api_key 01'],
  ],
  ['a key under DPoP is none', { authorization: `DPoP ${KEY}` }, []],
  [
    'a scoped token gives way to nothing',
    { authorization: `Bearer ${TOKEN}`, 'x-service-api-key': KEY },
    ['scoped_access_token bearer 01'],
  ],
  [
    'a malformed scoped token neither',
    { authorization: 'Bearer svst_12', 'x-service-api-key': KEY },
    [],
  ],
  [
    'a malformed OAuth token neither',
    {
      authorization: `Bearer ${OAUTH.toUpperCase().replace('SVOA', 'svoa')}`,
      'x-service-api-key': KEY,
    },
    [],
  ],
  ['a scoped token under DPoP', { authorization: `DPoP ${TOKEN}`, 'x-service-api-key': KEY }, []],
  [
    'a session comes before a token',
    { authorization: `Bearer ${TOKEN}`, cookie: `trawl_session=${HEX}` },
    ['session 01', 'scoped_access_token bearer 01'],
  ],
  ['a token in the header for keys', { 'x-service-api-key': TOKEN }, []],
  ['two words', { authorization: `Bearer ${KEY} x` }, []],
  ['no value', { authorization: 'Bearer ' }, []],
  ['no scheme', { authorization: KEY }, []],
  ['a header not asked for', { 'x-old-key': KEY }, []],
  ...[HEX, KEY.toUpperCase(), `SVK_${HEX}`, `${KEY}0`, KEY.slice(0, -1), ''].map(
    (text): [string, Headers, string[]] => [
      `no API key: ${text}`,
      { 'x-service-api-key': text },
      [],
    ],
  ),
];

for (const [name, headers, expected] of REQUESTS) {
  test(`presented credential: ${name}`, () => {
    assert.deepEqual(presented(headers), expected);
  });
}

test('aliases work like the header, in order of precedence', () => {
  const headers = {
    'x-old-key': other('svk_', 'bb'),
    'x-older-key': other('svk_', 'cc'),
    'x-service-api-key': other('svk_', 'aa'),
  };
  assert.deepEqual(presented(headers, ['X-Older-Key', 'x-old-key']), [
    'api_key aa',
    'api_key cc',
    'api_key bb',
  ]);
  assert.deepEqual(presented({ 'x-old-key': KEY }, ['X-Old-Key']), ['api_key 01']);
});

const COOKIES: readonly (readonly [text: string | undefined, value: string | undefined])[] = [
  [undefined, undefined],
  ['', undefined],
  [`trawl_session=${HEX}`, HEX],
  [`a=b; trawl_session=${HEX}; c=d`, HEX],
  [`a=b;trawl_session=${HEX}`, HEX],
  [`trawl_session=; trawl_session=${HEX}`, HEX],
  [`trawl_session=${HEX}; trawl_session=${other('', 'ff')}`, HEX],
  [`xtrawl_session=${HEX}`, undefined],
  [`trawl_session=${HEX}0`, undefined],
  [`trawl_session=${HEX}=`, undefined],
  [`trawl_session="${HEX}"`, undefined],
  [`trawl_session ${HEX}`, undefined],
  [`TRAWL_SESSION=${HEX}`, undefined],
];

for (const [text, value] of COOKIES) {
  test(`cookie: ${text ?? 'none'}`, () => {
    const found = presentedCredentials(new Map(text === undefined ? [] : [['cookie', text]]));
    assert.deepEqual(found, value === undefined ? [] : [{ source: 'session', value }]);
  });
}

test('the session cookie has the documented attributes', () => {
  assert.equal(SESSION_MS, 2_592_000_000);
  assert.equal(
    sessionCookie(HEX, { basePath: '', isSecure: false }),
    `trawl_session=${HEX}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax`,
  );
  assert.equal(
    sessionCookie(HEX, { basePath: '/code', isSecure: true }),
    `trawl_session=${HEX}; Path=/code; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure`,
  );
  assert.equal(
    endedSessionCookie({ basePath: '/code', isSecure: true }),
    'trawl_session=; Path=/code; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
  );
});
