// Who uses the pages in these tests: an owner from the start of the daemon, and members that the owner adds.

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** The password of every account in these tests. */
export const PASSWORD = 'correct horse battery';
export const OWNER = 'owner@example.com';
export const MEMBER = 'member@example.com';
export const OWNER_KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
/** Variables of a daemon that has the owner. */
export const OWNER_ENV = {
  TRAWL_OWNER_EMAIL: OWNER,
  TRAWL_OWNER_PASSWORD: PASSWORD,
  TRAWL_OWNER_API_KEY: OWNER_KEY,
};

/** A call of the owner, or of who has another key. */
export function send(
  url: string,
  method: string,
  body?: object,
  key = OWNER_KEY,
): Promise<Response> {
  return fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** What is answered to a call of the owner that creates something. */
export async function make(url: string, body: object): Promise<Record<string, string>> {
  const answer = await send(url, 'POST', body);
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Record<string, string>;
}

/** Adds a person with a password. */
export async function addMember(url: string, email: string): Promise<void> {
  const { setupUrl = '' } = await make(`${url}/api/ee/users`, { email });
  const token = new URL(setupUrl).searchParams.get('token');
  await make(`${url}/api/auth/setup`, { token, email, name: email, password: PASSWORD });
}

/** What is answered to a sign-in through the API. */
export async function signInStatus(
  page: Page,
  email: string,
  password = PASSWORD,
): Promise<number> {
  const answer = await page.request.post('/api/auth/login', { data: { email, password } });
  return answer.status();
}

/** Signs in through the API. */
export async function signIn(page: Page, email: string): Promise<void> {
  assert.equal(await signInStatus(page, email), 200);
}

/** Fills in the page of the sign-in. */
export async function signInByPage(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
