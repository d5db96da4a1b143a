// How far the targets of a connection could be listed, and which of them keeps a repo that a listing did not have. A repo goes
// when every target that has brought it says that it is gone: what one target cannot say holds up no repo of another.

import type { ListingPage } from '../../hosts/host.ts';
import { finderOf } from '../../hosts/targets.ts';
import type { StoredLink } from '../../store/connections.ts';

/**
 * `whole`: it was read to its end. `empty`: the same, and the host named no repository in it. `refused`: the host has answered
 * that the credential sees nothing of it, or not all. `open`: nobody knows what it holds now. In the order of what they prove.
 */
const STATES = ['whole', 'empty', 'refused', 'open'] as const;
export type TargetState = (typeof STATES)[number];

/** By name of the target. */
export type TargetStates = Record<string, TargetState>;

/** Target of pages that name none. */
export const SOLE_TARGET = '';

/** Codes of answers that stay the same until somebody changes something at the host. */
const REFUSALS: ReadonlySet<string> = new Set(['NOT_FOUND', 'NOT_ALLOWED', 'APP_NOT_INSTALLED']);

/** @param states  gets what a page says of its target, and of those that its issues name */
export function notePage(states: TargetStates, { repos, target, issues }: ListingPage): void {
  const name = target?.name ?? SOLE_TARGET;
  for (const { effect, code, target: meant } of issues) {
    if (effect !== 'DISCOVERY_INCOMPLETE') continue;
    const state = REFUSALS.has(code) ? 'refused' : 'open';
    for (const one of new Set([meant, name])) states[one] = worst(states[one], state);
  }
  const isEmpty = (target?.namedCount ?? repos.length) === 0;
  // An issue may say that a repository is gone; one of rate limits says nothing of what there is.
  if (isEmpty && issues.every(({ code }) => code === 'RATE_LIMITED')) states[name] ??= 'empty';
  else if (states[name] === undefined || states[name] === 'empty') states[name] = 'whole';
}

/** Of two listings: what both say. Targets of the first alone are left out. */
export function inBoth(states: TargetStates, before: TargetStates): TargetStates {
  const both = Object.entries(states).map(
    ([name, state]) => [name, worst(before[name], state)] as const,
  );
  return Object.fromEntries(both);
}

/** The target that keeps a repo which a listing did not have; undefined: none does. */
export function keeperOf({ targets }: StoredLink, states: TargetStates): string | undefined {
  const names = targets ?? Object.keys(states);
  const keeper = names.find((name) => (stateOf(name, states) ?? 'whole') !== 'whole');
  if (keeper !== undefined) return keeper;
  // The configuration may name in other words what has the repo.
  const isRenamed = names.some((name) => stateOf(name, states) === undefined);
  return isRenamed ? Object.keys(states).find((name) => states[name] === 'open') : undefined;
}

/** Undefined: the connection has no such target any more. */
export function stateOf(name: string, states: TargetStates): TargetState | undefined {
  const found = states[finderOf(name) ?? name];
  // An organization that the host names no more may have lost its name, or the credential its rights.
  return states[name] ?? (found === 'whole' ? 'empty' : found);
}

function worst(one: TargetState | undefined, other: TargetState): TargetState {
  return one !== undefined && STATES.indexOf(one) > STATES.indexOf(other) ? one : other;
}
