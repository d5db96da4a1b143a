// Serves the web page: one document for every address, with the files of the build (scripts/web.mjs), without data or
// inline script. A policy with a fresh nonce allows only our own files.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { builtFile } from '../../base/program-files.ts';
import type { AssetFiles } from '../shapes/asset.ts';
import { type Answer, type CallContext, endpoint, type Endpoint } from '../shapes/endpoint.ts';
import { assetEndpoint, folderFiles } from '../shapes/static-files.ts';

/** Addresses of the pages, the same as in the client's router (daemon/web/shell/routes.tsx). */
export const PAGES: readonly string[] = [
  '/',
  '/search',
  '/browse/*rest',
  '/repos',
  '/settings',
  '/settings/{section}',
  '/login',
  '/setup',
  '/oauth/authorize',
  '/oauth/complete',
];

/** A page that its own endpoint returns after checking the request (api/oauth/oauth-endpoints.ts). */
const GUARDED_PAGE = '/oauth/authorize';

const ASSETS = '/assets';

const manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    imports: z.array(z.string()).default([]),
    css: z.array(z.string()).default([]),
    assets: z.array(z.string()).default([]),
  }),
);

interface PageParts {
  readonly icon: string;
  /** Runs before the first paint. */
  readonly theme: string;
  readonly main: string;
  readonly modules: readonly string[];
  readonly styles: readonly string[];
  readonly faces: readonly string[];
}

/** Listed on first use, as a start needs none. */
let assets: AssetFiles | undefined;

function openAssets(): AssetFiles {
  return folderFiles(fileURLToPath(builtFile('web/assets')), /-[\w-]{8}\.\w+$/);
}

let cached: PageParts | undefined;

/** Errors: those of the system if there is no build. */
function readPageParts(): PageParts {
  const json: unknown = JSON.parse(readFileSync(builtFile('web/.vite/manifest.json'), 'utf8'));
  const entries = manifest.parse(json);
  const { 'main.tsx': main, 'theme.ts': theme, 'icon.svg': icon } = entries;
  if (main === undefined || theme === undefined || icon === undefined)
    throw new Error('the build has no entry points');
  return {
    icon: icon.file,
    theme: theme.file,
    main: main.file,
    modules: main.imports.flatMap((name) => entries[name]?.file ?? []),
    styles: main.css,
    faces: main.assets.filter((name) => /-latin-wght-/.test(name)),
  };
}

/** The document. @param base  path of the base URL, without a slash at its end */
function documentOf(base: string, nonce: string): string {
  const { icon, theme, main, modules, styles, faces } = (cached ??= readPageParts());
  const at = (file: string): string => `${base}/${file}`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="description" content="Code search in git repositories.">',
    `<meta name="trawl-base" content="${base}">`,
    `<meta name="trawl-nonce" content="${nonce}">`,
    '<title>Trawl</title>',
    `<link rel="icon" type="image/svg+xml" href="${at(icon)}">`,
    `<script src="${at(theme)}"></script>`,
    ...faces.map(
      (face) => `<link rel="preload" as="font" type="font/woff2" href="${at(face)}" crossorigin>`,
    ),
    ...styles.map((style) => `<link rel="stylesheet" href="${at(style)}">`),
    ...modules.map((module) => `<link rel="modulepreload" href="${at(module)}">`),
    `<script type="module" src="${at(main)}"></script>`,
    '</head>',
    '<body><div id="root"></div><noscript>Trawl needs JavaScript.</noscript></body>',
    '</html>',
    '',
  ].join('\n');
}

/** The page may load and run only what this daemon serves. The nonce is for the one style tag of the code view. */
function policyOf(nonce: string, ancestors: 'self' | 'none'): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors '${ancestors}'`,
  ].join('; ');
}

/** Path of the base URL, safe in markup: URLs encode quotes and angle brackets. */
function basePath(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '').replaceAll('&', '&amp;');
}

function answerPage(
  status: number,
  { baseUrl }: CallContext,
  ancestors: 'self' | 'none' = 'self',
): Answer {
  const nonce = randomBytes(16).toString('base64');
  const bytes = Buffer.from(documentOf(basePath(baseUrl), nonce));
  return {
    status,
    headers: { 'Cache-Control': 'no-store', 'Content-Security-Policy': policyOf(nonce, ancestors) },
    // Not cacheable: it has a nonce.
    content: { asset: { bytes, contentType: 'text/html; charset=utf-8', headers: {} } },
  };
}

/** A page that no frame may show, ours included; links from it send no referrer. */
export function answerAlonePage(status: number, context: CallContext): Answer {
  const { headers, ...page } = answerPage(status, context, 'none');
  const alone = { 'X-Frame-Options': 'DENY', 'Referrer-Policy': 'no-referrer' };
  return { ...page, headers: { ...headers, ...alone } };
}

function pageEndpoint(route: string, status: 200 | 404 = 200): Endpoint {
  const parameter = /[{*](\w+)/.exec(route)?.[1];
  return endpoint(
    {
      method: 'GET',
      path: route,
      access: 'none',
      isDescribed: false,
      input: parameter === undefined ? {} : { path: z.object({ [parameter]: z.string() }) },
      responses: { [status]: { body: z.string(), contentTypes: ['text/html'] } },
    },
    (_, context) => answerPage(status, context),
  );
}

export const UNKNOWN_PAGE: Endpoint = pageEndpoint('/{unknown}', 404);

export const PAGE_ENDPOINTS: readonly Endpoint[] = [
  ...PAGES.filter((route) => route !== GUARDED_PAGE).map((route) => pageEndpoint(route)),
  assetEndpoint(`${ASSETS}/*file`, (name) => (assets ??= openAssets()).get(name)),
];
