// Redirect addresses of OAuth clients: which may be registered, which match, what people are shown, and how
// parameters are appended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkRedirectUri,
  isRegistered,
  redirectHost,
  redirectTo,
} from '../../../daemon/accounts/oauth/redirects.ts';

function mayBeRegistered(uri: string): boolean {
  try {
    checkRedirectUri(uri);
    return true;
  } catch {
    return false;
  }
}

test('which redirect addresses may be registered', () => {
  for (const uri of [
    'https://client.example/callback',
    'https://client.example:8443/a/b?c=d',
    'http://localhost/callback',
    'http://127.0.0.1:33418',
    'http://[::1]:5000/x',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/callback',
  ])
    assert.ok(mayBeRegistered(uri), uri);
  for (const uri of [
    '',
    'callback',
    '/callback',
    '//client.example/callback',
    'https://*.example.com/callback',
    'https://client.example/*',
    'https://client.example/callback#fragment',
    'https://client.example/callback#',
    'https://user@client.example/',
    'https://user:word@client.example/',
    'https://client.example\\@evil.example/',
    'https:client.example/callback',
    'https:///client.example',
    ' https://client.example/',
    'https://client.example/a b',
    'https://client.example/\u00e9',
    'https://client.example/\n',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'blob:https://client.example/1',
    'about:blank',
    'view-source:javascript:alert(1)',
    'chrome://settings/',
    'ms-settings:x',
    'app:/x',
    '.app:/x',
    'com.:/x',
    'http://client.example/callback',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.2/',
    'HTTP://localhost/',
    'ftp://client.example/',
    'https://client.example/?iss=x',
    'com.app:/x?a=b&code=c',
    `https://client.example/${'a'.repeat(1000)}`,
  ])
    assert.ok(!mayBeRegistered(uri), uri);
});

test('a redirect address must be identical; on loopback the port may differ', () => {
  const registered = [
    'https://client.example/callback',
    'http://127.0.0.1/cb',
    'http://localhost:1/x?y=z',
  ];
  for (const uri of [
    ...registered,
    'http://127.0.0.1:8080/cb',
    'http://127.0.0.1:65535/cb',
    'http://localhost:9/x?y=z',
    'http://localhost/x?y=z',
  ])
    assert.ok(isRegistered(registered, uri), uri);
  for (const uri of [
    'https://client.example/callback/',
    'https://client.example/Callback',
    'https://client.example/callback?x=1',
    'https://client.example:443/callback',
    'https://CLIENT.example/callback',
    'https://client.example.evil.example/callback',
    'http://client.example/callback',
    'http://client.example:80/callback',
    'http://127.0.0.1/cb/',
    'http://127.0.0.1:80/other',
    'http://127.0.0.1:80/cb?x=1',
    'http://127.0.0.1:80/cb#x',
    'http://127.0.0.1:80@evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.2/cb',
    'http://2130706433/cb',
    'http://0x7f.1/cb',
    'http://0177.0.0.1/cb',
    'http://localhost/cb',
    'http://[::1]/cb',
    'https://127.0.0.1/cb',
    'HTTP://127.0.0.1/cb',
    'http://localhost.evil.example:1/x?y=z',
    'http://localhost:1@evil.example/x?y=z',
    'http://localhost/x?y=zz',
  ])
    assert.ok(!isRegistered(registered, uri), uri);
  // Registered by a version that let it.
  const old = 'http://client.example/callback';
  assert.ok(!isRegistered([old], old));
});

test('the consent page shows the host that a browser goes to', () => {
  assert.equal(redirectHost('https://client.example:8443/a'), 'client.example:8443');
  assert.equal(redirectHost('http://127.0.0.1:33418/cb'), '127.0.0.1:33418');
  assert.equal(redirectHost('https://client.example/?x=https://good.example'), 'client.example');
  assert.equal(redirectHost('cursor://anysphere.cursor-mcp/x'), 'cursor:');
});

test('response parameters are appended to the address unchanged', () => {
  const answer = { code: 'a b&c', state: '=' };
  assert.equal(
    redirectTo('https://c.example/x', answer),
    'https://c.example/x?code=a+b%26c&state=%3D',
  );
  assert.equal(redirectTo('app:/x?y=1', answer), 'app:/x?y=1&code=a+b%26c&state=%3D');
});
