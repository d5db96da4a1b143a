// Parses answers of code hosts: checks status, format and shape, or throws an error that says which is wrong.

import { z } from 'zod';
import { messageOf } from '../base/caught.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { answerFailure, statusFailure, type Question } from './failures.ts';

/** The JSON of an answer, behind a prefix. The secret is removed from the host's message in a refusal. Errors: HostError. */
export async function jsonOf(
  response: Response,
  question: Question,
  secret: SecretText | undefined,
  prefix = '',
): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) {
    const said = reasonIn(text);
    const safe = secret === undefined ? said : said.replaceAll(secret.reveal(), '(hidden)');
    throw statusFailure(response.status, safe, question);
  }
  try {
    if (!text.startsWith(prefix)) throw new Error(`it does not begin with ${prefix}`);
    return JSON.parse(text.slice(prefix.length));
  } catch (error) {
    throw answerFailure(messageOf(error), question);
  }
}

/** Keys that hosts use for the reason of a refusal. */
const REASONS = ['message', 'error_description', 'error', 'detail', 'errors'] as const;

/** The reason in the body of a refusal: from its JSON, or a plain line; nothing from an HTML page. */
function reasonIn(text: string): string {
  if (/^\s*</.test(text)) return '';
  try {
    const said: unknown = JSON.parse(text);
    return reasonOf(said) ?? '';
  } catch {
    return text;
  }
}

function reasonOf(said: unknown): string | undefined {
  if (typeof said === 'string') return said;
  if (typeof said !== 'object' || said === null) return undefined;
  if (Array.isArray(said)) return reasonOf(said[0]);
  for (const name of REASONS) {
    const inner = reasonOf(Reflect.get(said, name));
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The answer, if it has the expected shape. Errors: HostError. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  question: Question,
): z.output<Schema> {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  throw answerFailure(z.prettifyError(result.error), question);
}

/** A name, branch or address. Bound: memory and rows of the store. */
export const hostText = z.string().max(1_000);

/** A path of owner and name, as on GitHub and Gitea. It becomes part of names and addresses. */
export const ownerName = hostText.regex(/^[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/);

/** A host's time as ISO 8601 in UTC; undefined if invalid. */
export function hostTime(text: string | null | undefined): string | undefined {
  const timeMs = Date.parse(text ?? '');
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString();
}

export function questionOf(method: string, url: URL): Question {
  return { host: url.host, what: `${method} ${url.pathname}` };
}

/** Id and addresses of a repository, built from the connection's addresses, whatever the host calls itself. */
export function idAndAddresses(id: number, path: string, url: string, webUrl = url) {
  return {
    hostId: String(id),
    path,
    displayName: path,
    cloneUrl: `${url}/${path}.git`,
    webUrl: `${webUrl}/${path}`,
  };
}

/** The first usable address of an image. */
export function imageOf(...addresses: readonly (string | null | undefined)[]) {
  const image = addresses.find((address) => /^https?:\/\//.test(address ?? ''));
  return image ? { imageUrl: image } : {};
}
