// Focuses what a list is about to show. A row is in the page before it can have the focus: lists hide rows until they are
// measured, and what is far from the window is scrolled to first.

/** Guess: half a second on most screens. */
const FRAMES_MAX = 30;

/** How often something was wanted: the last wish counts. */
let requestCount = 0;

/**
 * Focuses what `find` gives as soon as it can have the focus; unless something else has got the focus, or is wanted, by then.
 *
 * @param find  called once a frame; undefined: it is not in the page yet
 * @param had  what has the focus until then
 */
export function focusSoon(
  find: () => HTMLElement | undefined,
  options: FocusOptions = {},
  had: Element | null = document.activeElement,
): void {
  const request = ++requestCount;
  let frames = 0;
  const check = (): void => {
    if (request !== requestCount) return;
    const { activeElement: active, body } = document;
    if (active !== had && active !== body) return;
    const element = find();
    element?.focus(options);
    if (element !== undefined && document.activeElement === element) return;
    if (frames++ < FRAMES_MAX) requestAnimationFrame(check);
  };
  check();
}
