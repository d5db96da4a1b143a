// Notices to a service manager reach a real datagram socket, by path and by abstract name; what cannot be reached is an error.

import assert from 'node:assert/strict';
import test from 'node:test';
import { openNotices } from '../../daemon/base/notices.ts';
import { openNoticeSocket } from '../e2e/service-manager.ts';

const options = { skip: process.platform !== 'linux' && 'Linux only' };

void test('notices arrive', options, () => {
  for (const name of [undefined, `trawl-notices-${process.pid}`]) {
    const socket = openNoticeSocket(name);
    const send = openNotices(socket.address);
    send('READY=1');
    send('RELOADING=1\nMONOTONIC_USEC=5');
    assert.deepEqual(socket.received(), ['READY=1', 'RELOADING=1\nMONOTONIC_USEC=5']);
  }
});

void test('a service manager that does not read stops nothing', options, () => {
  const send = openNotices(openNoticeSocket().address);
  assert.throws(() => {
    for (;;) send('WATCHDOG=1');
  }, /cannot send a notice/);
});

void test('where no notices can be sent is an error', options, () => {
  assert.throws(
    () => openNotices('notify'),
    /NOTIFY_SOCKET: "notify"; allowed: a path or an abstract name/,
  );
  assert.throws(() => openNotices(`/${'x'.repeat(108)}`), /107 bytes at most/);
  assert.throws(
    () => openNotices('/nowhere/notify')('READY=1'),
    /cannot send a notice to NOTIFY_SOCKET \/nowhere\/notify/,
  );
});
