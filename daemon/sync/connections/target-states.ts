// How completely each target of a connection was listed, and which target keeps a repo that the listing lacks. A repo
// is removed when each target that listed it says that it is gone; an incomplete target does not keep repos of other
// targets.

import type { ListingPage } from '../../hosts/host.ts';
import { finderOf } from '../../hosts/targets.ts';
import type { StoredLink } from '../../store/connections.ts';

/**
 * `whole`: read to its end. `empty`: the same, without any repository. `refused`: the host answered that the credential
 * cannot see it, or not all of it. `open`: unknown. Ordered by what they prove.
 */
const STATES = ['whole', 'empty', 'refused', 'open'] as const;
export type TargetState = (typeof STATES)[number];

export type TargetStates = Record<string, TargetState>;

/** Target name of pages without one. */
export const SOLE_TARGET = '';

/** Error codes that stay until somebody changes something at the host. */
const REFUSALS: ReadonlySet<string> = new Set(['NOT_FOUND', 'NOT_ALLOWED', 'APP_NOT_INSTALLED']);

/** @param states  collects the states of the page's target and of targets in its issues */
export function notePage(states: TargetStates, { repos, target, issues }: ListingPage): void {
  const name = target?.name ?? SOLE_TARGET;
  for (const { effect, code, target: issueTarget } of issues) {
    if (effect !== 'DISCOVERY_INCOMPLETE') continue;
    const state = REFUSALS.has(code) ? 'refused' : 'open';
    for (const one of new Set([issueTarget, name])) states[one] = worst(states[one], state);
  }
  const isEmpty = (target?.listedCount ?? repos.length) === 0;
  // An issue may mean that a repository is gone; rate limits say nothing about content.
  if (isEmpty && issues.every(({ code }) => code === 'RATE_LIMITED')) states[name] ??= 'empty';
  else if (states[name] === undefined || states[name] === 'empty') states[name] = 'whole';
}

/** What two listings agree on. Targets only in the first are left out. */
export function inBoth(states: TargetStates, before: TargetStates): TargetStates {
  const both = Object.entries(states).map(
    ([name, state]) => [name, worst(before[name], state)] as const,
  );
  return Object.fromEntries(both);
}

/** The target that keeps a repo which a listing lacks; undefined: none. */
export function retainingTarget({ targets }: StoredLink, states: TargetStates): string | undefined {
  const names = targets ?? Object.keys(states);
  const retaining = names.find((name) => (stateOf(name, states) ?? 'whole') !== 'whole');
  if (retaining !== undefined) return retaining;
  // The configuration may name the target differently now.
  const isRenamed = names.some((name) => stateOf(name, states) === undefined);
  return isRenamed ? Object.keys(states).find((name) => states[name] === 'open') : undefined;
}

/** Undefined: the connection no longer has this target. */
export function stateOf(name: string, states: TargetStates): TargetState | undefined {
  const found = states[finderOf(name) ?? name];
  // An organization that the host no longer names may have been renamed, or the credential may have lost access.
  return states[name] ?? (found === 'whole' ? 'empty' : found);
}

function worst(one: TargetState | undefined, other: TargetState): TargetState {
  return one !== undefined && STATES.indexOf(one) > STATES.indexOf(other) ? one : other;
}
