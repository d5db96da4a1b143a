// Writes the grammars of tree-sitter that the daemon uses to build/grammars/, compressed, under the names that
// daemon/engine/symbols/grammars.ts gives them, and the parser itself with its version. grammars.json lists whose they are. Why: so the packages, which hold more,
// are needed only to build.
// Measured: 2026-11-29: 33.3 MB; gzip 9 makes 3.1 MB of them in 17 s, brotli 7 2.2 MB in 2 s, brotli 11 2.0 MB in 98 s. The
// largest, 5.9 MB, is back in 45 to 85 ms.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { keepContents } from './contents.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const BUNDLED =
  'c cpp c_sharp dart go java javascript php python ruby rust solidity swift tsx typescript'.split(
    ' ',
  );

/** Where packages keep their grammars. */
const PLACES = {
  bash: '@lumis-sh/wasm-bash/tree-sitter-bash.wasm',
  hcl: '@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-hcl.wasm',
  kotlin: '@lumis-sh/wasm-kotlin/tree-sitter-kotlin.wasm',
  lua: '@tree-sitter-grammars/tree-sitter-lua/tree-sitter-lua.wasm',
  scala: '@lumis-sh/wasm-scala/tree-sitter-scala.wasm',
  zig: '@tree-sitter-grammars/tree-sitter-zig/tree-sitter-zig.wasm',
  ...Object.fromEntries(
    BUNDLED.map((name) => [name, `@repomix/tree-sitter-wasms/out/tree-sitter-${name}.wasm`]),
  ),
};

const folder = path.join(root, 'build', 'grammars');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, place] of Object.entries(PLACES)) {
  const grammar = readFileSync(path.join(root, 'node_modules', place));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 7 };
  writeFileSync(path.join(folder, `${name}.wasm.br`), brotliCompressSync(grammar, { params }));
}
const parser = path.join(root, 'node_modules', 'web-tree-sitter');
copyFileSync(path.join(parser, 'web-tree-sitter.wasm'), path.join(folder, 'parser.wasm'));
keepContents('grammars', [
  'node_modules/web-tree-sitter',
  ...Object.values(PLACES).map((place) => `node_modules/${place}`),
]);
const { version } = JSON.parse(readFileSync(path.join(parser, 'package.json'), 'utf8'));
writeFileSync(path.join(folder, 'parser-version.txt'), version);
