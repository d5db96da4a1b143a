// Focuses an element that is about to appear. Why not at once: a list hides new rows until they are measured, and must
// first scroll to rows outside the window.

/** Bound: wait for an element that does not appear; half a second at 60 frames a second. */
const FRAMES_MAX = 30;

/** Counts requests: only the latest one is served. */
let requestCount = 0;

/**
 * Focuses the element that `find` returns as soon as it can have the focus, unless the focus has moved or another
 * request has come meanwhile.
 *
 * @param find  called once per frame; null, undefined: not in the page yet
 * @param had  the element that has the focus until then
 */
export function focusSoon(
  find: () => HTMLElement | null | undefined,
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
    if (element && document.activeElement === element) return;
    if (frames++ < FRAMES_MAX) requestAnimationFrame(check);
  };
  check();
}
