// What a service manager gives: read once, only by the process that it is for, and never inherited.

import assert from 'node:assert/strict';
import test from 'node:test';
import { takeServiceManager } from '../../../daemon/base/config/service-manager.ts';

const ALL = {
  LISTEN_PID: '7',
  LISTEN_FDS: '1',
  LISTEN_FDNAMES: 'trawl.socket',
  NOTIFY_SOCKET: '@manager',
  WATCHDOG_PID: '7',
  WATCHDOG_USEC: '30000000',
};

void test('socket, notices and watchdog are taken from the environment', () => {
  const env = { ...ALL, OTHER: 'x' };
  assert.deepEqual(takeServiceManager(env, 7), {
    listener: 3,
    notices: '@manager',
    watchdogMs: 30_000,
  });
  assert.deepEqual(env, { OTHER: 'x' });
});

void test('what is for another process, or absent, is not used', () => {
  const none = { listener: undefined, notices: undefined, watchdogMs: undefined };
  assert.deepEqual(takeServiceManager({}, 7), none);
  assert.deepEqual(takeServiceManager({ ...ALL }, 8), { ...none, notices: '@manager' });
  assert.deepEqual(takeServiceManager({ WATCHDOG_USEC: '1000' }, 7), { ...none, watchdogMs: 1 });
});

void test('several sockets are refused', () => {
  assert.throws(
    () => takeServiceManager({ ...ALL, LISTEN_FDS: '2' }, 7),
    /LISTEN_FDS.*2 sockets.*leave one ListenStream/s,
  );
});
