// Renders Markdown of a repository as a safe document fragment: no scripts, styles, forms or foreign requests.
// markdown-it renders, DOMPurify removes everything not on its list, and links and images are rewritten to point into
// the repository. Foreign images become links. Rendering fetches nothing.

import createDOMPurify from 'dompurify';
import type { Config } from 'dompurify';
import MarkdownIt from 'markdown-it';
import { BASE_PATH } from '../data/base-path.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import { colourBlocks } from './markdown-colours.ts';
import { rawAddress } from './file-queries.ts';

const CONFIG: Config & { readonly RETURN_DOM_FRAGMENT: true } = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: [
    'style',
    'form',
    'input',
    'button',
    'textarea',
    'select',
    'option',
    'optgroup',
    'fieldset',
    'iframe',
    'svg',
    'math',
    'video',
    'audio',
    'source',
    'track',
    'picture',
    'map',
    'area',
    'dialog',
    'marquee',
    'template',
    'slot',
  ],
  FORBID_ATTR: ['style', 'class', 'srcset', 'background', 'ping', 'target', 'usemap', 'popover'],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|[^a-z]|[a-z+.-]+(?:[^a-z+.:-]|$))/i,
  // Why: ids and names with the prefix `user-content-` cannot clash with those of the page.
  SANITIZE_NAMED_PROPS: true,
  RETURN_DOM_FRAGMENT: true,
};

const ID_PREFIX = 'user-content-';

/** Stands for the repository while addresses are resolved. No host can have this name. */
const ROOT = 'http://repository.invalid/';

/**
 * Resolves an address in a file to a path of the repository or an address elsewhere. Undefined: not a valid address.
 */
function resolve(text: string, { path }: BrowseTarget): URL | undefined {
  try {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return new URL(text, ROOT + encoded);
  } catch {
    return undefined;
  }
}

function isInside(url: URL): boolean {
  return url.href.startsWith(ROOT);
}

function pathOf({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return pathname.slice(1);
  }
}

/**
 * The part after a file's address: the lines or heading that the link names. Code hosts write lines as `#L3` and
 * `#L3-L7`.
 */
function positionInFile({ hash }: URL): string {
  const [, from, to] = /^#L(\d+)(?:C\d+)?(?:-L?(\d+)(?:C\d+)?)?$/.exec(hash) ?? [];
  if (from !== undefined) return `?highlightRange=${from}${to === undefined ? '' : `-${to}`}`;
  return hash === '' ? '' : `#${ID_PREFIX}${hash.slice(1)}`;
}

function mendLink(link: Element, target: BrowseTarget): void {
  const text = link.getAttribute('href') ?? '';
  if (text.startsWith('#')) {
    link.setAttribute('href', `#${ID_PREFIX}${text.slice(1)}`);
    return;
  }
  const url = resolve(text, target);
  if (url === undefined) link.removeAttribute('href');
  else if (isInside(url)) {
    const path = pathOf(url);
    const kind = path === '' || path.endsWith('/') ? 'tree' : 'blob';
    const address = addressOf({ ...target, kind, path: path.replace(/\/$/, '') });
    link.setAttribute('href', `${BASE_PATH}${address}${positionInFile(url)}`);
  } else {
    link.setAttribute('rel', 'noopener noreferrer');
    link.setAttribute('title', url.host);
  }
}

/** Images of other hosts are described, not loaded. */
function mendImage(image: Element, target: BrowseTarget): void {
  const url = resolve(image.getAttribute('src') ?? '', target);
  image.removeAttribute('src');
  if (url === undefined) return;
  const path = pathOf(url);
  if (!image.hasAttribute('alt')) image.setAttribute('alt', path);
  if (isInside(url)) image.setAttribute('src', rawAddress({ ...target, path }));
  else image.setAttribute('alt', `Image at ${url.host} (not loaded)`);
  if (!isInside(url) && /^https?:$/.test(url.protocol)) image.setAttribute('longdesc', url.href);
}

/** Replaces an image without a source by a link to it, or by its text. */
function replaceForeign(image: Element): void {
  if (image.hasAttribute('src')) return;
  const address = image.getAttribute('longdesc');
  const text = image.getAttribute('alt') ?? '';
  if (address === null || image.closest('a') !== null) {
    image.replaceWith(text);
    return;
  }
  const link = image.ownerDocument.createElement('a');
  link.href = address;
  link.rel = 'noopener noreferrer';
  link.textContent = text;
  image.replaceWith(link);
}

/** Gives headings the ids that Markdown links use. */
function nameHeadings(fragment: DocumentFragment): void {
  const seen = new Map<string, number>();
  for (const heading of fragment.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const words = (heading.textContent ?? '').trim().toLowerCase();
    const name = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    if (heading.id === '') heading.id = `${ID_PREFIX}${name}${count === 0 ? '' : `-${count}`}`;
  }
}

const TAG = /<[a-z](?:[^"'>]|"[^"]*"|'[^']*')*>/gi;
const REFUSED_ATTRIBUTE = /([\s/"'])(?:on[a-z]+|style)(\s*=)/gi;
const STYLE_SHEET = /<style\b[^]*?(?:<\/style\s*>|$)/gi;

/**
 * Removes event handlers and styles. DOMPurify would remove them too, but the page's content security policy reports
 * them as soon as they are parsed.
 */
function withoutRefused(html: string): string {
  return html
    .replaceAll(STYLE_SHEET, '')
    .replaceAll(TAG, (tag) => tag.replaceAll(REFUSED_ATTRIBUTE, '$1data-refused$2'));
}

/** A markdown-it rule for HTML in the text. */
function renderMarkup(tokens: readonly { readonly content: string }[], index: number): string {
  return withoutRefused(tokens[index]?.content ?? '');
}

/** Task lists: turns `[ ]` and `[x]` into boxes made of text. */
function markTasks(fragment: DocumentFragment): void {
  for (const item of fragment.querySelectorAll('li')) {
    const text = item.firstChild?.nodeName === 'P' ? item.firstChild.firstChild : item.firstChild;
    const [mark, state] = /^\[([ x])\] /i.exec(text?.nodeValue ?? '') ?? [];
    if (text === null || text === undefined || mark === undefined) continue;
    text.nodeValue = `${state === ' ' ? '☐' : '☑'} ${text.nodeValue?.slice(mark.length) ?? ''}`;
  }
}

type Rule = NonNullable<InstanceType<typeof MarkdownIt>['renderer']['rules'][string]>;

/** Aligns table cells by attribute instead of by style. */
const renderCell: Rule = (tokens, index, options, _, renderer) => {
  const cell = tokens[index];
  const style = String(cell?.attrGet('style') ?? '');
  const side = /^text-align:(left|center|right)$/.exec(style)?.[1];
  if (cell !== undefined) cell.attrs = side === undefined ? null : [['align', side]];
  return renderer.renderToken(tokens, index, options);
};

function makeMarkdown() {
  const made = new MarkdownIt({ html: true, linkify: true });
  made.renderer.rules['html_block'] = renderMarkup;
  made.renderer.rules['html_inline'] = renderMarkup;
  made.renderer.rules['th_open'] = renderCell;
  made.renderer.rules['td_open'] = renderCell;
  made.renderer.rules['fence'] = (tokens, index) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    const { escapeHtml } = made.utils;
    const [language = ''] = info.trim().split(/\s+/);
    return `<pre lang="${escapeHtml(language)}"><code>${escapeHtml(content)}</code></pre>\n`;
  };
  return made;
}

const markdown = makeMarkdown();

/** @param target  the file; relative addresses start from it */
export function renderMarkdown(text: string, target: BrowseTarget): DocumentFragment {
  const purify = createDOMPurify(window);
  purify.addHook('afterSanitizeAttributes', (node) => {
    if (node.tagName === 'A' && node.hasAttribute('href')) mendLink(node, target);
    if (node.tagName === 'IMG') mendImage(node, target);
  });
  const fragment = purify.sanitize(markdown.render(text), CONFIG);
  for (const image of fragment.querySelectorAll('img')) replaceForeign(image);
  nameHeadings(fragment);
  markTasks(fragment);
  colourBlocks(fragment);
  return fragment;
}
