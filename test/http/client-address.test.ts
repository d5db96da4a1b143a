// The client address: that of the peer, unless it is a trusted proxy; then the last untrusted hop.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientAddress, proxyList } from '../../daemon/http/client-address.ts';

void test('only trusted proxies are believed, and only about the hop before them', () => {
  const proxies = proxyList(['10.0.0.0/8', 'fd00::/8']);
  const cases: [string, string | undefined, string][] = [
    ['192.0.2.1', undefined, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['10.1.2.3', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['10.1.2.3', '203.0.113.9, 198.51.100.7, 10.9.9.9', '198.51.100.7'],
    ['10.1.2.3', '198.51.100.7,fd00::1', '198.51.100.7'],
    ['fd00::2', '2001:db8::5', '2001:db8::5'],
    ['::ffff:10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['10.1.2.3', '198.51.100.7:51234', '198.51.100.7'],
    ['10.1.2.3', '[2001:db8::5]:51234, 10.4.4.4:80', '2001:db8::5'],
    ['10.1.2.3', '[2001:db8::5]', '2001:db8::5'],
    ['10.1.2.3', 'nonsense', '10.1.2.3'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '10.4.4.4', '10.1.2.3'],
  ];
  for (const [remoteAddress, forwarded, expected] of cases) {
    const request = {
      method: 'GET',
      path: '/',
      rawQuery: '',
      remoteAddress,
      signal: new AbortController().signal,
      headers: new Map(forwarded === undefined ? [] : [['x-forwarded-for', forwarded]]),
      body: () => Promise.reject(new Error('no body')),
    };
    assert.equal(
      clientAddress(request, proxies),
      expected,
      `${remoteAddress} ${String(forwarded)}`,
    );
    assert.equal(clientAddress(request, proxyList([])), remoteAddress.replace('::ffff:', ''));
  }
});
