// Clients, requests, consents and tokens of OAuth for tests of the store.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { NextTokens } from '../../daemon/store/oauth-consents.ts';
import type { Store } from '../../daemon/store/store.ts';
import { newHash, newRecord } from './harness.ts';

/** Id of a client with one address. */
export async function newClient(store: Store, createdAt = 1, unusedMax = 100): Promise<string> {
  const id = randomUUID();
  const client = { id, name: 'Tool', redirectUris: ['https://c.example/'], createdAt };
  await store.oauthClients.create(client, unusedMax, []);
  return id;
}

/** What a client asks a user for. */
export function requestFor(userId: string, clientId: string, expiresAt = 1000) {
  return {
    hash: newHash(),
    userId,
    clientId,
    redirectUri: 'https://c.example/',
    codeChallenge: 'x',
    state: null,
    resource: 'https://t.example',
    expiresAt,
  };
}

/** What a user allows who is asked so. */
export function consentOf(request: ReturnType<typeof requestFor>, usedAt = 1, createdAt = usedAt) {
  const { hash: _, state: __, ...requested } = request;
  return { ...requested, id: randomUUID(), codeHash: newHash(), createdAt, usedAt };
}

/** A consent whose code was not used. */
export async function newConsent(store: Store, userId: string, clientId: string, usedAt = 1) {
  const request = requestFor(userId, clientId);
  await store.oauthConsents.addRequest(request, 100);
  const consent = consentOf(request, usedAt, 1);
  assert.equal(await store.oauthConsents.allow(request.hash, consent, 100), true);
  return consent;
}

/** What a consent gives next. */
export function nextTokens(createdAt = 2, records = [newRecord(createdAt)]): NextTokens {
  const token = {
    hash: newHash(),
    resource: 'https://t.example',
    keyHash: null,
    createdAt,
    expiresAt: createdAt + 100,
  };
  return { refreshHash: newHash(), keyHash: null, token, expiresAt: createdAt + 1000, records };
}
