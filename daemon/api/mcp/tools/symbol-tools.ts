// The tools `find_symbol_definitions` and `find_symbol_references`: the definitions and occurrences of a name.

import { z } from 'zod';
import { ORG } from '../../../accounts/audit-log.ts';
import type { NavigationKind } from '../../../engine/search/navigation.ts';
import { quotePattern } from '../../../engine/regex/quote.ts';
import { DEFAULT_REVISION } from '../../../engine/query/revisions.ts';
import type { NavigationResponse } from '../../search/navigation-endpoints.ts';
import { SYMBOL_NAME_SIZE_MAX } from '../../../engine/query/request.ts';
import { boundedText } from '../../shapes/input.ts';
import { BoundedText } from './bounded-text.ts';
import { addFiles, firstLines, type FoundLines, inOrder, linesWith } from './found-lines.ts';
import { environmentOf } from './search-scope.ts';
import { requestedRepo, repoField } from './tool-arguments.ts';
import { tool, type ToolContext } from './tool.ts';

const input = z.strictObject({
  symbol: boundedText(SYMBOL_NAME_SIZE_MAX)
    .refine((symbol) => symbol !== '', { error: 'required' })
    .describe('Exact name of a function, class, type, variable, ...'),
  repo: repoField,
});

async function find(
  kind: NavigationKind,
  { symbol, repo }: z.output<typeof input>,
  context: ToolContext,
): Promise<string> {
  const done = kind === 'definitions' ? 'goto_definition' : 'find_references';
  context.accounts.auditLog.note(context.actor, `user.performed_${done}`, ORG);
  const call = {
    symbolName: symbol,
    repoName: requestedRepo(repo, context).name,
    revisionName: DEFAULT_REVISION,
  };
  const answer = await context.services.search.navigate(kind, call, environmentOf(context));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own engine's answer
  const found = answer as NavigationResponse;
  return found.files.length === 0 ? nothing(kind, symbol, found) : occurrencesText(symbol, found);
}

/** Lines with occurrences in a result: to find one of more a model should use grep. */
const OCCURRENCES_MAX = 100;

function nothing(kind: NavigationKind, symbol: string, found: NavigationResponse): string {
  const other =
    kind === 'definitions'
      ? `find_symbol_references or grep find where "${symbol}" is used, or defined in a language without symbols`
      : 'names are exact and case-sensitive; grep takes expressions';
  return ['Found 0 places in 0 files', ...gaps(found), `(${other})`].join('\n');
}

function occurrencesText(symbol: string, found: NavigationResponse): string {
  const { files, stats } = found;
  const text = new BoundedText();
  text.add(`Found ${stats.matchCount} places in ${files.length} files`);
  const first = firstLines(files.map(linesOf), OCCURRENCES_MAX);
  const addedCount = addFiles(text, first, (file) => file);
  if (addedCount < files.length || stats.matchCount > OCCURRENCES_MAX)
    text.end(
      `(cut: places in ${addedCount} of ${files.length} files are shown; grep for \\b${quotePattern(symbol)}\\b with path, include or a larger limit gets others)`,
    );
  for (const line of gaps(found)) text.end(line);
  return text.toString();
}

function linesOf({
  repository,
  fileName,
  matches,
}: NavigationResponse['files'][number]): FoundLines {
  const lines = matches.flatMap(({ lineContent, range }) =>
    linesWith(lineContent, range.start.lineNumber, [range]),
  );
  return { repository, path: fileName, lines: inOrder(lines) };
}

function gaps({ incompleteReasons = [] }: NavigationResponse): string[] {
  return incompleteReasons.map((reason) => GAPS[reason] ?? `(places may be missing: ${reason})`);
}

const GAPS: Readonly<Record<string, string>> = {
  match_limit: '(there are more places than were searched)',
  symbols_missing: '(symbols are still being found: places may be missing; try again later)',
};

export const findSymbolDefinitions = tool(
  {
    name: 'find_symbol_definitions',
    description: 'Where a symbol is defined in a repository.',
    isSearch: true,
    input,
  },
  (args, context) => find('definitions', args, context),
);

export const findSymbolReferences = tool(
  {
    name: 'find_symbol_references',
    description: 'Where the name of a symbol occurs in a repository, including definitions.',
    isSearch: true,
    input,
  },
  (args, context) => find('references', args, context),
);
