// Logs searches that took long, with their plan or query (settings.slowSearchMs).

import type { Log } from '../base/log.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import { printPlan } from '../engine/query/print-plan.ts';
import type { CompletedSearch } from '../engine/search/answer.ts';
import type { SearchOrigin } from '../engine/search/prepare.ts';

/** Characters of a plan or query. */
const TEXT_MAX = 4096;

/** @param slowMs  0: none is slow */
export function logSlow(
  log: Log,
  slowMs: number,
  { kind, durationNs, waitNs, bindNs, matchNs, reasons }: CompletedSearch,
  { request: { query }, environment: { requestId, clientKey }, plan }: SearchOrigin,
): void {
  if (slowMs === 0 || durationNs < slowMs * 1e6 || !log.isEnabled('info')) return;
  log.info('slow search', {
    ...omitUndefined({ requestId, caller: clientKey }),
    kind,
    durationMs: msOf(durationNs),
    waitMs: msOf(waitNs),
    bindMs: msOf(bindNs),
    matchMs: msOf(matchNs),
    ...(reasons.length === 0 ? {} : { incomplete: reasons.join(' ') }),
    // The plan of a search that another thread made is not here.
    ...(plan === undefined
      ? { query: textOf(query).slice(0, TEXT_MAX) }
      : { plan: printPlan(plan).slice(0, TEXT_MAX) }),
  });
}

function textOf(query: SearchOrigin['request']['query']): string {
  return typeof query === 'string' ? query : JSON.stringify(query);
}

function msOf(ns: number): number {
  return Math.round(ns / 1e3) / 1e3;
}
