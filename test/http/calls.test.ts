// A handler that makes several calls in one request, such as a batch of tools: each is counted, admitted and
// authorized separately, and the answer is that of the handler.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { z } from 'zod';
import { endpoint, ok } from '../../daemon/api/shapes/endpoint.ts';
import type { CallContext, Endpoint, ReleasablePermit } from '../../daemon/api/shapes/endpoint.ts';
import { LazySignal } from '../../daemon/base/cancellation.ts';
import { toApiError } from '../../daemon/api/shapes/api-error.ts';
import { closeWorlds, OWNER_KEY, eventually, gate } from './harness.ts';
import { sendInProcess } from './in-process.ts';
import { mountEndpoints, type Mounted } from './mounted.ts';

afterEach(closeWorlds);

const OWNER = { TRAWL_OWNER_EMAIL: 'o@example.com', TRAWL_OWNER_API_KEY: OWNER_KEY };
const WITH_KEY = { Authorization: `Bearer ${OWNER_KEY}` };

/** A batch: answers with the results of `call`, or the code of an error. */
function batch(call: (context: CallContext, index: number) => Promise<unknown>): Endpoint {
  return endpoint(
    {
      operationId: 'batch',
      method: 'POST',
      path: '/batch',
      access: 'opt',
      tag: 'System',
      summary: 'Three calls',
      responses: { 200: { description: 'Done.', body: z.object({}) } },
    },
    async (_, context) => {
      const results: unknown[] = [];
      for (let index = 0; index < 3; index++) {
        const done = call(context, index).catch((error: unknown) => {
          const { errorCode, message } = toApiError(error)!;
          return `${errorCode}: ${message}`;
        });
        results.push(await done);
      }
      return ok(results);
    },
  );
}

async function results(served: Mounted, headers = WITH_KEY) {
  const reply = await sendInProcess(served, { method: 'POST', path: '/batch', headers });
  assert.equal(reply.status, 200);
  const names = Object.keys(reply.headers).filter((name) => /ratelimit|retry/.test(name));
  assert.deepEqual(names, [], 'no headers of limits');
  return JSON.parse(reply.body.toString()) as unknown[];
}

const serve = (endpoints: readonly Endpoint[], settings = {}) =>
  mountEndpoints(endpoints, settings, OWNER);

test('three counted calls are admitted; further ones are refused individually', async () => {
  const search = batch(async ({ calls }, index) => {
    await calls.count();
    calls.require({ access: 'user' });
    const permit = await calls.admit();
    permit.release();
    return index;
  });
  const served = await serve([search], {
    rateLimit: { requestsPerDay: 5 },
    maxConcurrentSearches: 1,
    maxQueuedSearches: 1,
  });
  assert.deepEqual(await results(served), [0, 1, 2]);
  const [first, second, third] = await results(served);
  assert.deepEqual([first, second], [0, 1]);
  assert.match(String(third), /^API_RATE_LIMIT_EXCEEDED: The limit of 5 requests per day/);
  for (const one of await results(served)) assert.match(String(one), /^API_RATE_LIMIT_EXCEEDED/);
  assert.equal(served.pipeline.admission.runningCount, 0);
});

test('guests are not counted', async () => {
  const counted = batch(async ({ calls }) => await calls.count());
  const served = await serve([counted], { rateLimit: { requestsPerDay: 1 } });
  const guest = { Authorization: 'none' };
  assert.deepEqual(await results(served, guest), [null, null, null]);
});

test('a kept permit blocks the next call; the request releases it', async () => {
  const waiting: Promise<ReleasablePermit>[] = [];
  const keeping = batch(async ({ calls }, index) => {
    if (index !== 1) return void (await calls.admit());
    waiting.push(calls.admit());
    return 'waits';
  });
  const served = await serve([keeping], { maxConcurrentSearches: 1, maxQueuedSearches: 1 });
  const { admission } = served.pipeline;
  assert.deepEqual(await results(served), [null, 'waits', 'SERVER_OVERLOADED: Too many searches.']);
  await Promise.all(waiting);
  await eventually(() => admission.runningCount + admission.waitingCount === 0);
});

test('a handler that continues after its response gets no permit and no bytes', async () => {
  const late: Promise<void>[] = [];
  const answered = gate();
  const hasty = batch(async ({ calls, takeMemory }, index) => {
    if (index > 0) return;
    const goOn = async () => {
      await answered.opened;
      await assert.rejects(calls.admit(), { name: 'ClientGoneError' });
      assert.throws(() => takeMemory(1000), { name: 'ClientGoneError' });
    };
    late.push(goOn());
  });
  const served = await serve([hasty]);
  await results(served);
  answered.open();
  await Promise.all(late);
  assert.equal(served.pipeline.admission.runningCount, 0);
  assert.equal(served.pipeline.memory.usedSize, 0);
});

test('access and entitlements of each call', async () => {
  const rights = [
    { access: 'owner' },
    { access: 'session' },
    { access: 'opt', entitlement: 'audit' },
  ] as const;
  const guarded = batch(async ({ calls }, index) => calls.require(rights[index]!));
  const served = await serve([guarded]);
  assert.deepEqual(await results(served), [
    null,
    'INSUFFICIENT_PERMISSIONS: This requires a browser session.',
    'INSUFFICIENT_PERMISSIONS: This requires a licence with the entitlement "audit".',
  ]);
  const guest = await results(served, { Authorization: 'none' });
  assert.match(String(guest[0]), /^NOT_AUTHENTICATED/);
});

test('what a handler reserves after its answer has ended is released at once', async () => {
  let late: CallContext | undefined;
  const hasty = endpoint(
    {
      operationId: 'hasty',
      method: 'POST',
      path: '/hasty',
      access: 'opt',
      tag: 'System',
      summary: 'Answers before its work is done',
      responses: { 200: { description: 'Done.', body: z.object({}) } },
    },
    (_, context) => {
      late = context;
      return Promise.resolve(ok({}));
    },
  );
  const served = await serve([hasty]);
  const bodyReads: boolean[] = [];
  await served.handle({
    method: 'POST',
    path: '/hasty',
    rawQuery: '',
    remoteAddress: '127.0.0.1',
    headers: new Map(),
    signal: new LazySignal(),
    body: ({ reserve }) => {
      bodyReads.push(reserve(1000));
      return Promise.resolve(Buffer.alloc(1000));
    },
  });
  let endCount = 0;
  late!.memory.onOver(() => endCount++);
  assert.equal(endCount, 1);
  await late!.fetchRequest().text();
  assert.deepEqual(bodyReads, [false]);
  assert.equal(served.pipeline.memory.usedSize, 0);
});
