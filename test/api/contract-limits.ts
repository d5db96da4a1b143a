// The limits that the contract (daemon/api/API.md) gives as numbers, each with its section, the words around it and
// the constant of the code. Constants that are not exported are read from the text of their file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PLAN_NODES_MAX } from '../../core/shared/plan.ts';
import { REDIRECTS_MAX } from '../../daemon/accounts/oauth/redirects.ts';
import { KEY_NAME_LENGTH_MAX } from '../../daemon/accounts/keys.ts';
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../daemon/accounts/passwords.ts';
import { SYMBOL_NAME_SIZE_MAX, CONTEXT_LINES_MAX } from '../../daemon/engine/query/request.ts';
import { QUERY_SIZE_MAX } from '../../daemon/api/search/search-schemas.ts';
import { PER_PAGE_MAX } from '../../daemon/api/shapes/input.ts';
import { settingsSchema } from '../../daemon/base/config/settings.ts';
import { DAY_MS, HOUR_MS } from '../../daemon/base/durations.ts';
import { HINTS_MAX, HINT_TEXT_SIZE_MAX } from '../../daemon/engine/query/hints.ts';
import { GROUP_DEPTH_MAX } from '../../daemon/engine/query/parser.ts';
import { QUERY_STATES_MAX } from '../../daemon/engine/query/plan.ts';
import { PROGRAM_COUNT_MAX } from '../../daemon/engine/regex/compile.ts';
import { PATTERN_SIZE_MAX, REPEAT_MAX } from '../../daemon/engine/regex/syntax.ts';
import { CHUNK_SIZE_MAX } from '../../daemon/engine/search/backlog.ts';
import { DELIVERY_MAX } from '../../daemon/api/jobs/webhook-endpoint.ts';
import {
  HEAD_SIZE_MAX,
  HEAD_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  STREAM_STALL_MS,
  UNASKED_BODY_SIZE_MAX,
} from '../../daemon/http/adapters/adapter.ts';
import { BUFFER_SIZE_MAX } from '../../daemon/http/adapters/pump.ts';
import { FRAME_SIZE_MAX } from '../../daemon/http/event-body.ts';
import { BODY_VALUES_MAX } from '../../daemon/http/request-body.ts';
import { wholeDocument } from './document.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const SECOND_MS = 1000;

const FACTORS: Readonly<Record<string, number>> = { DAY_MS, HOUR_MS };

/** The number that `name` stands for in a file: a product of numbers. */
function numberIn(file: string, name: string): number {
  const pattern = new RegExp(`\\b${name}(?:: \\w+ =| =|:) (\\d[\\w.* ]*?)(?:;|,| })`);
  const [, text] = pattern.exec(readFileSync(file, 'utf8')) ?? [];
  assert.ok(text, `${file} has no constant ${name}: it moved, so move this row, too`);
  const value = text
    .split(' * ')
    .reduce((product, part) => product * (FACTORS[part] ?? Number(part.replaceAll('_', ''))), 1);
  assert.ok(Number.isFinite(value), `${file}: ${name} = ${text}`);
  return value;
}

const { rateLimit, oauth } = settingsSchema.parse({});
const { maxBytes, maxLineBytes } = wholeDocument().components.schemas['SearchRequest']!.properties!;
const TOOLS = 'daemon/api/mcp/tools';
const OAUTH = 'daemon/accounts/oauth';

type Limit = readonly [section: string, phrase: string, value: number];

const REQUESTS: readonly Limit[] = [
  ['2.2', 'at most {} values', BODY_VALUES_MAX],
  ['2.2', 'at most {} KiB', HEAD_SIZE_MAX / KIB],
  ['2.2', 'headers arrive within {} s', HEAD_TIMEOUT_MS / SECOND_MS],
  ['2.2', 'whole request within {} s', REQUEST_TIMEOUT_MS / SECOND_MS],
  ['2.2', 'first {} characters', numberIn('daemon/http/pipeline.ts', 'CLIENT_SOURCE_MAX')],
  ['2.3', 'above {} KiB', numberIn('daemon/http/responses.ts', 'COMPRESS_ABOVE_SIZE') / KIB],
  ['2.6', '(1 to {})', PER_PAGE_MAX],
  ['2.9', 'at most {} KiB of a body', UNASKED_BODY_SIZE_MAX / KIB],
  ['2.9', 'over {} s is dropped', STREAM_STALL_MS / SECOND_MS],
];

const ACCOUNTS: readonly Limit[] = [
  ['4.3', '1 to {} characters', KEY_NAME_LENGTH_MAX],
  ['4.8', 'password of {} to', PASSWORD_LENGTH_MIN],
  ['4.8', 'to {} characters', PASSWORD_LENGTH_MAX],
  ['4.8', '{} days', numberIn('daemon/accounts/credentials.ts', 'SESSION_MS') / DAY_MS],
  ['4.8', '{} failed', numberIn('daemon/accounts/sign-in-limiter.ts', 'FAILURE_COUNT_MAX')],
  [
    '4.8',
    'within {} minutes',
    numberIn('daemon/accounts/sign-in-limiter.ts', 'WINDOW_MS') / (60 * SECOND_MS),
  ],
  ['5.1', 'Default limit: {} requests', rateLimit.requestsPerDay!],
  ['14.7', '(1 to {})', numberIn('daemon/api/accounts/grant-endpoints.ts', 'REPO_IDS_MAX')],
  ['16.1', '(1 to {} characters', numberIn(`${OAUTH}/clients.ts`, 'NAME_LENGTH_MAX')],
  ['16.1', '`redirect_uris` (1 to {})', REDIRECTS_MAX],
  ['16.2', 'Code {} s', oauth.codeTtlSeconds],
  ['16.2', 'Access token {} s', oauth.accessTokenTtlSeconds],
  ['16.2', '{} days', (oauth.refreshTokenTtlSeconds * SECOND_MS) / DAY_MS],
  ['16.3', '{} requests a minute', numberIn(`${OAUTH}/oauth-server.ts`, 'countMax')],
];

const SEARCHES: readonly Limit[] = [
  ['6.1', 'at most {} bytes', QUERY_SIZE_MAX],
  ['6.1', 'above {}:', CONTEXT_LINES_MAX],
  ['6.1', 'integer from {}: `files`', maxBytes!.minimum!],
  ['6.1', 'integer from {}: longer', maxLineBytes!.minimum!],
  ['6.2', 'at most {} of', HINTS_MAX],
  ['6.2', 'at most {} characters', HINT_TEXT_SIZE_MAX],
  ['6.2', 'at most {} matches', numberIn('daemon/engine/search/near-hints.ts', 'FOUND_MAX')],
  ['6.3', 'the first {}.', numberIn('daemon/engine/search/render.ts', 'BRANCHES_MAX')],
  ['6.7', 'at least {} of', numberIn('daemon/engine/search/order.ts', 'DIVERSITY_SHARE')],
  ['7.5', 'the first {} files', numberIn('daemon/engine/search/explain-best.ts', 'BEST_MAX')],
  ['8.3', 'and {} files', numberIn('daemon/engine/search/backlog.ts', 'FIRST_DOCS')],
  ['8.3', '{} ms after the first', numberIn('daemon/engine/search/backlog.ts', 'FIRST_MS')],
  ['8.3', '{} KiB', CHUNK_SIZE_MAX / KIB],
  ['8.4', 'for {} s', STREAM_STALL_MS / SECOND_MS],
  ['8.4', 'at most {} MiB', BUFFER_SIZE_MAX / MIB],
  ['8.5', '≤ {}', FRAME_SIZE_MAX],
  ['9.1', 'At most {} nested', GROUP_DEPTH_MAX],
  ['9.5', 'up to {},', REPEAT_MAX],
  ['9.5', '{} bytes', PATTERN_SIZE_MAX],
  ['9.5', 'and {} states', PROGRAM_COUNT_MAX],
  ['9.5', '{} states a query', QUERY_STATES_MAX],
  ['9.7', 'At most {} conditions', PLAN_NODES_MAX],
];

const READING: readonly Limit[] = [
  ['10.1', '1 to {} bytes', SYMBOL_NAME_SIZE_MAX],
  ['10.1', 'At most {} ranges', numberIn('daemon/engine/search/navigation.ts', 'OCCURRENCES_MAX')],
  ['11.0', 'than {} bytes', numberIn('daemon/sources/git/names.ts', 'REF_SIZE_MAX')],
  ['11.3', 'at most {}, with', numberIn('daemon/api/sources/tree-endpoints.ts', 'PATHS_MAX')],
  ['11.3', 'with {} folders', numberIn('daemon/api/sources/tree-endpoints.ts', 'FOLDERS_MAX')],
  ['11.3', 'Above {} entries', numberIn('daemon/api/sources/tree-endpoints.ts', 'NODES_MAX')],
  ['12.2', 'over files ({};', numberIn('daemon/api/history/diff-endpoints.ts', 'PER_PAGE')],
  ['13.4', 'last {} lines', numberIn('daemon/sync/jobs/job-lines.ts', 'LINE_COUNT_MAX')],
  ['13.6', 'At most {} MiB', DELIVERY_MAX / MIB],
  ['13.6', 'within {} s', numberIn('daemon/sync/connections/pushes.ts', 'REPEAT_MS') / SECOND_MS],
  [
    '13.7',
    'at most {} char',
    numberIn('daemon/api/search/suggestion-endpoints.ts', 'PREFIX_SIZE_MAX'),
  ],
  ['13.7', '1 to {},', numberIn('daemon/api/search/suggestion-endpoints.ts', 'COUNT_MAX')],
  ['20.2', 'for {} days', numberIn('daemon/sync/jobs/jobs.ts', 'KEPT_MS') / DAY_MS],
  ['21.3', 'within {} s', numberIn('daemon/http/server.ts', 'GRACE_MS') / SECOND_MS],
];

const AGENTS: readonly Limit[] = [
  ['17.1', 'at most {} messages', numberIn('daemon/api/mcp/http-mount.ts', 'BATCH_MAX')],
  ['17.1', '{} sessions', numberIn('daemon/api/mcp/sessions.ts', 'ownCountMax')],
  ['17.1', '{} a user', numberIn('daemon/api/mcp/sessions.ts', 'userCountMax')],
  ['17.2', 'at most {} bytes', numberIn(`${TOOLS}/tool.ts`, 'TEXT_SIZE_MAX')],
  ['17.2', 'at most {} characters', numberIn(`${TOOLS}/bounded-text.ts`, 'TEXT_SIZE_MAX')],
  ['17.3', 'cut at {} bytes', numberIn(`${TOOLS}/found-lines.ts`, 'LINE_SIZE_MAX')],
  ['17.3', 'the first {} ', numberIn(`${TOOLS}/symbol-tools.ts`, 'OCCURRENCES_MAX')],
];

export const LIMITS: readonly Limit[] = [
  ...REQUESTS,
  ...ACCOUNTS,
  ...SEARCHES,
  ...READING,
  ...AGENTS,
];
