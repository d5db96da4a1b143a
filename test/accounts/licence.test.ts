// Licence keys: which are valid, what they grant and when; forged and broken ones are invalid.

import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ENTITLEMENTS, Licence, readLicence, stateOf } from '../../daemon/accounts/licence.ts';
import { issueLicence } from '../../daemon/accounts/licence-issue.ts';
import {
  BUILT_IN_PUBLIC_KEY,
  describePublicKey,
  makeLicenceKeyPair,
  parsePrivateKey,
  parsePublicKey,
} from '../../daemon/accounts/licence-key.ts';
import {
  CLAIMS,
  DAY_MS,
  HEADER,
  NOW_MS,
  NOW_SECONDS,
  PAIR,
  PRIVATE_KEY,
  PUBLIC_KEY,
  token,
  tokenBy,
} from './licences.ts';

async function stateAt(text: string | undefined, nowMs = NOW_MS): Promise<string> {
  return stateOf(await readLicence(text, PUBLIC_KEY), nowMs);
}

/** The claims without some, with others. */
function claims(change: Record<string, unknown>): Record<string, unknown> {
  return { ...CLAIMS, ...change };
}

test('a good key is valid and says what it grants', async () => {
  const licence = new Licence(await readLicence(` ${token(HEADER, CLAIMS)}\n`, PUBLIC_KEY));
  assert.deepEqual(licence.describe(NOW_MS), {
    state: 'valid',
    entitlements: ['scoped-tokens', 'audit'],
    customer: 'Acme',
    licenseId: 'L-1',
    seats: 3,
    expiresAt: '2026-06-01T13:00:00.000Z',
  });
  const granted = ENTITLEMENTS.filter((name) => licence.isEntitled(name, NOW_MS));
  assert.deepEqual(granted, ['scoped-tokens', 'audit']);
  assert.equal(licence.seatMax(NOW_MS), 3);
});

test('no key: nothing is granted', async () => {
  for (const text of [undefined, '', ' \n']) {
    const licence = new Licence(await readLicence(text, PUBLIC_KEY));
    assert.deepEqual(licence.describe(NOW_MS), { state: 'none', entitlements: [] });
    assert.equal(licence.isEntitled('mcp', NOW_MS), false);
    assert.equal(licence.seatMax(NOW_MS), undefined);
  }
});

test('every check reads the clock', async () => {
  const nbf = NOW_SECONDS + 100;
  const licence = new Licence(await readLicence(token(HEADER, claims({ nbf })), PUBLIC_KEY));
  const table: [atMs: number, state: string][] = [
    [0, 'not_yet_valid'],
    [(nbf - 60) * 1000 - 1, 'not_yet_valid'],
    [(nbf - 60) * 1000, 'valid'],
    [CLAIMS.exp * 1000 - 1, 'valid'],
    [CLAIMS.exp * 1000, 'expired'],
    [CLAIMS.exp * 1000 + DAY_MS, 'expired'],
    [CLAIMS.exp * 1000 - 1, 'valid'],
  ];
  for (const [atMs, state] of table) {
    assert.equal(licence.describe(atMs).state, state);
    assert.equal(licence.isEntitled('audit', atMs), state === 'valid');
    assert.equal(licence.describe(atMs).entitlements.length, state === 'valid' ? 2 : 0);
    assert.equal(licence.seatMax(atMs), state === 'valid' ? 3 : undefined);
  }
});

test('iat is ignored, and only nbf has a tolerance', async () => {
  assert.equal(await stateAt(token(HEADER, claims({ iat: NOW_SECONDS + 9999 }))), 'valid');
  assert.equal(await stateAt(token(HEADER, claims({ exp: NOW_SECONDS }))), 'expired');
  const both = claims({ exp: NOW_SECONDS - 1, nbf: NOW_SECONDS + 999 });
  assert.equal(await stateAt(token(HEADER, both)), 'expired');
});

test('unknown entitlements, claims and header members are ignored', async () => {
  const entitlements = ['audit', 'world-peace', 'audit', 'AUDIT', 'constructor'];
  const text = token({ ...HEADER, kid: 'k1', x: 1 }, claims({ entitlements, more: [] }));
  const read = await readLicence(text, PUBLIC_KEY);
  assert.equal(read.kind, 'signed');
  assert.deepEqual(new Licence(read).entitlements(NOW_MS), ['audit']);
});

test('a replaced licence applies at once', async () => {
  const licence = new Licence({ kind: 'none' });
  licence.replace(await readLicence(token(HEADER, CLAIMS), PUBLIC_KEY));
  assert.equal(licence.isEntitled('audit', NOW_MS), true);
  licence.replace({ kind: 'none' });
  assert.equal(licence.isEntitled('audit', NOW_MS), false);
});

const other = generateKeyPairSync('ed25519').privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const rawPublicKey = Buffer.from(PAIR.publicKey, 'base64');
const spki = PUBLIC_KEY.export({ type: 'spki', format: 'der' });
const pem = PUBLIC_KEY.export({ type: 'spki', format: 'pem' }).toString();
const hmac = (key: Buffer | string) => (signed: string) =>
  createHmac('sha256', key).update(signed).digest();
const good = token(HEADER, CLAIMS);

const FORGED: readonly (readonly [name: string, text: string])[] = [
  ['alg none, no signature', tokenBy({ ...HEADER, alg: 'none' }, CLAIMS, () => Buffer.alloc(0))],
  ['alg none, signed', token({ ...HEADER, alg: 'none' }, CLAIMS)],
  ['alg missing', token({ typ: 'JWT' }, CLAIMS)],
  ...[rawPublicKey, spki, pem, PAIR.publicKey].map(
    (key, i) =>
      [
        `HS256 under the public key ${i}`,
        tokenBy({ ...HEADER, alg: 'HS256' }, CLAIMS, hmac(key)),
      ] as const,
  ),
  ...['HS256', 'ES256', 'RS256', 'Ed25519', 'eddsa', 'EdDSA '].map(
    (alg) => [`alg ${alg}, signed with Ed25519`, token({ ...HEADER, alg }, CLAIMS)] as const,
  ),
  [
    'ES256',
    tokenBy({ ...HEADER, alg: 'ES256' }, CLAIMS, (signed) =>
      sign('sha256', Buffer.from(signed), { key: ec, dsaEncoding: 'ieee-p1363' }),
    ),
  ],
  ['typ missing', token({ alg: 'EdDSA' }, CLAIMS)],
  ['typ other', token({ ...HEADER, typ: 'at+jwt' }, CLAIMS)],
  ['kid no text', token({ ...HEADER, kid: 1 }, CLAIMS)],
  ['crit', token({ ...HEADER, crit: ['b64'], b64: true }, CLAIMS)],
  ['key in the header', token({ ...HEADER, jwk: other.export({ format: 'jwk' }) }, CLAIMS, other)],
  ['signed with another key', token(HEADER, CLAIMS, other)],
  [
    'claims of one, signature of another',
    `${good.split('.').slice(0, 1).join('')}.${token(HEADER, claims({ seats: 9 })).split('.')[1] ?? ''}.${good.split('.')[2] ?? ''}`,
  ],
  ['no signature', good.split('.').slice(0, 2).join('.')],
  ['empty signature', `${good.split('.').slice(0, 2).join('.')}.`],
  ['words', 'not a licence'],
  ['JSON', JSON.stringify(CLAIMS)],
  ['claims no object', token(HEADER, [CLAIMS])],
  ['claims null', token(HEADER, null)],
  ['very long', `${good}${'A'.repeat(20_000)}`],
];

for (const [name, text] of FORGED) {
  test(`invalid: ${name}`, async () => {
    const licence = new Licence(await readLicence(text, PUBLIC_KEY));
    assert.deepEqual(licence.describe(NOW_MS), { state: 'invalid', entitlements: [] });
    assert.equal(licence.isEntitled('audit', NOW_MS), false);
  });
}

const WRONG_CLAIMS: readonly Record<string, unknown>[] = [
  ...[undefined, 'someone', '', 1].map((iss) => ({ iss })),
  ...[undefined, '1780318800', null, -1, 1.5, 1e300].map((exp) => ({ exp })),
  ...['0', null, -1].map((nbf) => ({ nbf })),
  ...[undefined, 'audit', null, {}, [1], ['audit', null]].map((entitlements) => ({ entitlements })),
  ...[0, -1, 1.5, '3', null].map((seats) => ({ seats })),
  ...[1, null, ''].map((sub) => ({ sub })),
  { customer: 1 },
  { iat: 'now' },
];

for (const change of WRONG_CLAIMS) {
  test(`invalid: claims with ${JSON.stringify(change)}`, async () => {
    assert.equal(await stateAt(token(HEADER, claims(change))), 'invalid');
  });
}

test('optional claims may be absent', async () => {
  const { iss, exp, entitlements } = CLAIMS;
  const licence = new Licence(
    await readLicence(token(HEADER, { iss, exp, entitlements }), PUBLIC_KEY),
  );
  const { state, expiresAt, ...rest } = licence.describe(NOW_MS);
  assert.equal(state, 'valid');
  assert.equal(expiresAt, '2026-06-01T13:00:00.000Z');
  assert.deepEqual(rest, { entitlements });
  assert.equal(licence.seatMax(NOW_MS), undefined);
});

test('any change of a character makes it invalid', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';
  await fc.assert(
    fc.asyncProperty(
      fc.nat(good.length - 2), // the last character of a signature has bits that count for nothing
      fc.constantFrom(...alphabet.split('')),
      async (at, character) => {
        fc.pre(good[at] !== character);
        const text = good.slice(0, at) + character + good.slice(at + 1);
        assert.equal(await stateAt(text), 'invalid');
      },
    ),
    { numRuns: 300 },
  );
});

test('an issued licence can be read back', async () => {
  const order = fc.record(
    {
      sub: fc.uuid(),
      customer: fc.string(),
      iat: fc.nat(4_000_000_000),
      nbf: fc.nat(4_000_000_000),
      exp: fc.nat(4_000_000_000),
      entitlements: fc.subarray([...ENTITLEMENTS]),
      seats: fc.integer({ min: 1, max: 1_000_000 }),
    },
    { requiredKeys: ['sub', 'iat', 'exp', 'entitlements'] },
  );
  await fc.assert(
    fc.asyncProperty(order, async (terms) => {
      const read = await readLicence(await issueLicence(PRIVATE_KEY, terms), PUBLIC_KEY);
      assert.deepEqual(read, { kind: 'signed', terms: { iss: 'trawl-license', ...terms } });
    }),
    { numRuns: 100 },
  );
});

test('public keys: PEM, and base64 of raw or SPKI bytes', async () => {
  const forms = [
    pem,
    `\n${pem.trim()}  `,
    pem.replaceAll('\n', '\r\n'),
    PAIR.publicKey,
    rawPublicKey.toString('base64url'),
    spki.toString('base64'),
    spki.toString('base64url'),
  ];
  for (const form of forms) {
    const read = await readLicence(good, parsePublicKey(form));
    assert.equal(read.kind, 'signed', form);
  }
  assert.equal(describePublicKey(parsePublicKey(pem)), PAIR.publicKey);
});

test('other keys are refused, and the message does not contain them', () => {
  const ecPublic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const x25519 = generateKeyPairSync('x25519').publicKey;
  const texts = [
    PAIR.privateKey,
    `${PAIR.privateKey}${pem}`,
    PRIVATE_KEY.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    ecPublic.export({ type: 'spki', format: 'pem' }).toString(),
    x25519.export({ type: 'spki', format: 'der' }).toString('base64'),
    '',
    'hello there',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
  ];
  for (const text of texts) {
    assert.throws(
      () => parsePublicKey(text),
      (error: Error) => /not an Ed25519 public key/.test(error.message),
      text,
    );
  }
  for (const text of [
    pem,
    '',
    'secret words',
    ec.export({ type: 'pkcs8', format: 'pem' }).toString(),
  ]) {
    assert.throws(() => parsePrivateKey(text), /not an Ed25519 private key in PEM form$/);
  }
});

test('the built-in key is valid, and generated pairs are unique', async () => {
  assert.equal(describePublicKey(parsePublicKey(BUILT_IN_PUBLIC_KEY)), BUILT_IN_PUBLIC_KEY);
  assert.notEqual(makeLicenceKeyPair().privateKey, PAIR.privateKey);
  const read = await readLicence(good, parsePublicKey(BUILT_IN_PUBLIC_KEY));
  assert.equal(read.kind, 'invalid');
});

test('reasons name the problem and never contain the key', async () => {
  const table: [text: string, reason: RegExp][] = [
    [token(HEADER, CLAIMS, other), /signature/],
    [token({ ...HEADER, alg: 'none' }, CLAIMS), /EdDSA/],
    [token(HEADER, claims({ exp: 'x', iss: 'y' })), /iss, exp|exp, iss/],
    ['words', /not a signed JWT/],
  ];
  for (const [text, expected] of table) {
    const read = await readLicence(text, PUBLIC_KEY);
    assert.ok(read.kind === 'invalid');
    assert.match(read.reason, expected);
    assert.ok(!read.reason.includes(text));
  }
});
