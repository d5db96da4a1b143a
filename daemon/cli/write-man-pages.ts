// Run by scripts/pack.mjs: writes the man pages into the folder that is named.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readProductVersion } from '../base/config/version.ts';
import { shapeOf } from './command-shape.ts';
import { manPages } from './man-pages.ts';
import { COMMANDS } from './commands.ts';
import { createProcessContext } from './process-context.ts';
import { createProgram } from './program.ts';

const [, , folder = '', date = ''] = process.argv;
const program = shapeOf(
  createProgram(
    createProcessContext(() => Promise.resolve(undefined)),
    COMMANDS,
  ),
);
mkdirSync(folder, { recursive: true });
for (const [name, text] of manPages(program, { version: readProductVersion(), date }))
  writeFileSync(path.join(folder, name), text);
