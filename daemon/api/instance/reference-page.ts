// The page with the API description: a little HTML, style and script around swagger-ui-dist. All addresses are
// relative, so it works below any base URL, without a network, and under a policy without inline scripts.

import { fileURLToPath } from 'node:url';
import { builtFile } from '../../base/program-files.ts';
import { type Asset, type AssetFiles, contentTypeOf, makeAsset } from '../shapes/asset.ts';
import { folderFiles } from '../shapes/static-files.ts';

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Trawl API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="reference/swagger-ui.css">
    <link rel="stylesheet" href="reference/page.css">
  </head>
  <body>
    <header>
      <strong>Trawl API reference</strong>
      <a href="openapi.json">openapi.json</a>
    </header>
    <main id="reference">
      <p>This page needs JavaScript. The <a href="openapi.json">description</a> itself does not.</p>
    </main>
    <script src="reference/swagger-ui-bundle.js"></script>
    <script src="reference/page.js"></script>
  </body>
</html>
`;

const STYLE = `body { margin: 0; background: #fff; }
header { display: flex; gap: 1.5rem; align-items: baseline; padding: .75rem 1.25rem; background: #16324f; color: #fff;
  font: 16px/1.5 system-ui, sans-serif; }
header a { color: #cfe3f7; }
main > p { padding: 1rem 1.25rem; font: 16px/1.5 system-ui, sans-serif; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info table td, .swagger-ui table.model td table td { vertical-align: top; }
`;

// The server is replaced: calls from the page must go to the address of the page.
const SCRIPT = `'use strict';
(async () => {
  const description = await (await fetch('openapi.json')).json();
  const base = new URL('..', location.href).pathname.replace(/\\/$/, '');
  description.servers = [{ url: location.origin + base }];
  SwaggerUIBundle({
    spec: description,
    domNode: document.getElementById('reference'),
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 2,
    displayOperationId: true,
    validatorUrl: null,
  });
})();
`;

export const PAGE = makeAsset(Buffer.from(HTML), contentTypeOf('page.html'), {
  'Content-Security-Policy': PAGE_POLICY,
});

const OWN_FILES: ReadonlyMap<string, Asset> = new Map(
  [['page.css', STYLE] as const, ['page.js', SCRIPT] as const].map(([name, text]) => [
    name,
    makeAsset(Buffer.from(text), contentTypeOf(name)),
  ]),
);

/** Those of swagger-ui-dist, which the build copies. Listed on first use, as a start needs none. */
let packageFiles: AssetFiles | undefined;

function openPackageFiles(): AssetFiles {
  return folderFiles(fileURLToPath(builtFile('reference')));
}

/** A file of the page, read on first use; undefined: unknown name. */
export function pageFile(name: string): Asset | Promise<Asset> | undefined {
  return OWN_FILES.get(name) ?? (packageFiles ??= openPackageFiles()).get(name);
}
