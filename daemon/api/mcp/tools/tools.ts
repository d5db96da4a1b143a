// All tools (API.md 17.3), in the order in which they are listed.

import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { getDiff, listCommits } from './history-tools.ts';
import { listTree } from './list-tree.ts';
import { readFileTool } from './read-file.ts';
import { listBranches, listRepos } from './repo-tools.ts';
import { findSymbolDefinitions, findSymbolReferences } from './symbol-tools.ts';
import type { Tool } from './tool.ts';

export const TOOLS: readonly Tool[] = [
  grep,
  glob,
  readFileTool,
  listTree,
  findSymbolDefinitions,
  findSymbolReferences,
  listRepos,
  listBranches,
  listCommits,
  getDiff,
];
