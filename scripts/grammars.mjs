// Copies the grammars of tree-sitter that the daemon uses to build/grammars/, under the names that
// daemon/engine/symbols/grammars.ts gives them. Why: so the packages, which hold more, are needed only to build.

import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

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
  copyFileSync(path.join(root, 'node_modules', place), path.join(folder, `${name}.wasm`));
}
