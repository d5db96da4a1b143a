// Keys of the results: next and previous match or file, and actions on the focused one. The focus is the browser's own;
// the list first scrolls to elements that are not in the page.

import { flushSync } from 'react-dom';
import type { RefObject } from 'react';
import type { VirtualizerHandle } from 'virtua';
import { queryClient } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { focusSoon } from '../parts/focus-soon.ts';
import { useKey } from '../parts/keys.ts';
import { spansAround } from './card-rows.ts';
import { useCards } from './cards.ts';
import { sourceOf } from './file-source.ts';
import type { ResultFile } from './rows.ts';

export interface Parts {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly files: readonly ResultFile[];
}

/** The elements of a card that can have the focus: its matched lines, or its head without such lines. */
function stopsOf(article: Element): HTMLElement[] {
  const lines = [...article.querySelectorAll<HTMLElement>('.result-line[data-match]')];
  const head = article.querySelector<HTMLElement>('.file-link');
  return lines.length > 0 || head === null ? lines : [head];
}

function indexOf(article: Element): number {
  return Number(article.getAttribute('aria-posinset')) - 1;
}

/**
 * Focuses an element of a card, and scrolls to the card if it is not in the page.
 *
 * @param which  0: the first; -1: the last
 */
function focusCard({ scroller, list, files }: Parts, index: number, which: 0 | -1): void {
  if (index < 0 || index >= files.length) return;
  let isScrolledTo = false;
  focusSoon(() => {
    const article = scroller.current?.querySelector(`article[aria-posinset="${index + 1}"]`);
    if (article) return stopsOf(article).at(which);
    if (!isScrolledTo) list.current?.scrollToIndex(index, { align: 'nearest' });
    isScrolledTo = true;
    return undefined;
  });
}

/** The focused card, and the focused element in it. */
function current(scroller: Element | null): { article: Element; active: Element } | undefined {
  const active = document.activeElement;
  if (scroller === null || active === null || !scroller.contains(active)) return undefined;
  const article = active.closest('article');
  return article === null ? undefined : { article, active };
}

/** Index of the card at the top of the window. */
function firstIndex({ list }: Parts): number {
  const handle = list.current;
  return handle === null ? 0 : handle.findItemIndex(handle.scrollOffset);
}

function moveMatch(parts: Parts, step: 1 | -1): void {
  const at = current(parts.scroller.current);
  if (at === undefined) {
    focusCard(parts, firstIndex(parts), 0);
    return;
  }
  const direction =
    step === 1 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const isMatch = (stop: Element): boolean =>
    (at.active.compareDocumentPosition(stop) & direction) !== 0;
  const stops = stopsOf(at.article);
  const next = step === 1 ? stops.find(isMatch) : stops.findLast(isMatch);
  if (next === undefined) focusCard(parts, indexOf(at.article) + step, step === 1 ? 0 : -1);
  else next.focus();
}

function moveFile(parts: Parts, step: 1 | -1): void {
  const at = current(parts.scroller.current);
  focusCard(parts, at === undefined ? firstIndex(parts) : indexOf(at.article) + step, 0);
}

/**
 * Makes a change above an element without moving the element in the window. The list knows its new height a frame
 * later, hence the second adjustment.
 */
function holdStill(scroller: Element, element: Element, change: () => void): void {
  const before = element.getBoundingClientRect().top;
  const hold = (): void => {
    scroller.scrollTop += element.getBoundingClientRect().top - before;
  };
  flushSync(change);
  hold();
  requestAnimationFrame(() => requestAnimationFrame(hold));
}

/** The focused result. */
export interface Focused {
  readonly file: ResultFile;
  /** 1-based; 0: the head. */
  readonly line: number;
  readonly element: HTMLElement;
}

export function focusedOf({ scroller, files }: Omit<Parts, 'list'>): Focused | undefined {
  const at = current(scroller.current);
  if (at === undefined) return undefined;
  const file = files[indexOf(at.article)];
  const element = at.active.closest<HTMLElement>('.result-line');
  if (file === undefined || !(at.active instanceof HTMLElement)) return undefined;
  return { file, line: Number(element?.dataset['line'] ?? 0), element: element ?? at.active };
}

/** Loads the text first, so that the lines appear at once. If that fails, the card shows the error. */
async function moreContext(scroller: Element, { file, line, element }: Focused): Promise<void> {
  const source = sourceOf(file.repository, file.revisions[0], file.path);
  await queryClient.ensureQueryData(source).catch(() => undefined);
  holdStill(scroller, element, () =>
    useCards.getState().change(file.key, (card) => ({
      ...card,
      opened: [...card.opened, ...spansAround(file, card, line)],
    })),
  );
}

/** Copies the full URL. */
function copyFocusedLink(focused: Focused): void {
  const link = focused.element.closest('a');
  if (link !== null) void copyText(link.href, 'Link');
}

export function useResultKeys(parts: Parts): void {
  const withFocus = (act: (focused: Focused) => void) => (): boolean => {
    const focused = focusedOf(parts);
    if (focused !== undefined) act(focused);
    return focused !== undefined;
  };
  /** Arrow keys scroll the page unless a result has the focus. */
  const move = (step: 1 | -1) => (event: KeyboardEvent) => {
    const isArrow = event.key.startsWith('Arrow');
    if (isArrow && current(parts.scroller.current) === undefined) return false;
    moveMatch(parts, step);
    return true;
  };
  useKey('nextMatch', move(1));
  useKey('previousMatch', move(-1));
  useKey('nextFile', () => moveFile(parts, 1));
  useKey('previousFile', () => moveFile(parts, -1));
  useKey('first', () => focusCard(parts, 0, 0));
  useKey('last', () => focusCard(parts, parts.files.length - 1, -1));
  useKey('down', (event) => {
    const { target } = event;
    const isBox = target instanceof Element && target.closest('[role="search"]') !== null;
    if (!isBox || target.getAttribute('aria-expanded') === 'true') return false;
    moveMatch(parts, 1);
    return true;
  });
  useKey(
    'context',
    withFocus((focused) => {
      if (parts.scroller.current !== null) void moreContext(parts.scroller.current, focused);
    }),
  );
  useKey(
    'fold',
    withFocus(({ file, element }) => {
      const article = element.closest('article');
      useCards.getState().change(file.key, (card) => ({ ...card, isFolded: !card.isFolded }));
      article?.querySelector<HTMLElement>('.file-link')?.focus();
    }),
  );
  useKey('copyLink', withFocus(copyFocusedLink));
  useKey(
    'copyLocation',
    withFocus(({ file, line }) => {
      void copyText(line === 0 ? file.path : `${file.path}:${line}`, 'Place');
    }),
  );
}
