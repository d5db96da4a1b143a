// Actions on a file and on the names in it, for its buttons, cards and keys.

import { useLocation } from 'wouter';
import type { getCommit } from '../../api/history/commit-endpoints.ts';
import { type LineRange, lineRangeOf, rangeText } from '../code/line-range.ts';
import type { NameLocation } from '../code/names.ts';
import { belowBase } from '../data/base-path.ts';
import { call } from '../data/api.ts';
import { queryClient } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { toast } from '../parts/toasts.ts';
import { addressOf, type BrowseTarget } from './address.ts';
import { useFileParameters } from './file-parameters.ts';
import { explorationText, findDefinitionsAt, lacksSymbols } from './symbols.ts';

/** The commit id that a revision currently stands for. Errors: as `call`. */
async function commitOf({ repo, revision }: BrowseTarget): Promise<string> {
  const ref = revision ?? 'HEAD';
  const { hash } = await queryClient.fetchQuery({
    queryKey: ['commit', repo, ref],
    queryFn: () => call<typeof getCommit>('/api/commit', { query: { repo, ref } }),
  });
  return hash;
}

function reportFailure(doing: Promise<void>): void {
  doing.catch((error: unknown) => toast(error instanceof Error ? error.message : String(error)));
}

/** The address of this page with other lines. */
function linkTo(selected: LineRange | undefined): string {
  const url = new URL(location.href);
  // Why by hand: URLSearchParams encodes the colon, which an address may contain.
  if (selected !== undefined) {
    url.searchParams.delete('highlightRange');
    const others = url.search.replace(/^\?/, '&').replace(/^&$/, '');
    url.search = `?highlightRange=${rangeText(selected)}${others}`;
  }
  return url.href;
}

export function useFileWays(target: BrowseTarget, language: string) {
  const { valueOf, addressWith, change } = useFileParameters();
  const [, navigate] = useLocation();
  const explore = (kind: 'definitions' | 'references', name: string): void =>
    change({ explore: explorationText({ kind, name }) });
  const goToDefinition = async (at: NameLocation): Promise<void> => {
    const found = await findDefinitionsAt(target, language, at);
    const { files, stats } = found;
    const [file] = files;
    const line = file?.matches[0]?.range.start.lineNumber;
    if (file === undefined || line === undefined)
      toast(
        `No definition of ${at.name} found${lacksSymbols(found) ? '. Symbols are not ready yet.' : ''}`,
      );
    else if (stats.matchCount > 1) explore('definitions', at.name);
    else {
      navigate(`${belowBase(file.webUrl)}?highlightRange=${line}`);
      if (found.isOfDefault && file.repository === target.repo)
        toast(
          `Nothing was found at ${target.revision}, or it could not be searched. This is the default revision.`,
        );
    }
  };
  const pin = async (): Promise<void> => {
    const revision = await commitOf(target);
    navigate(addressWith(addressOf({ ...target, revision })), { replace: true });
    toast('The address now names the commit');
  };
  return {
    goToDefinition: (at: NameLocation) => reportFailure(goToDefinition(at)),
    findReferences: (name: string) => explore('references', name),
    pin: () => reportFailure(pin()),
    /** @param selected  the lines and columns to link to; undefined: those of the address */
    copyLink: (selected?: LineRange) => void copyText(linkTo(selected), 'Link'),
    copyLocation: () => {
      const line = lineRangeOf(valueOf('highlightRange'))?.from;
      void copyText(`${target.path}${line === undefined ? '' : `:${line}`}`, 'Path');
    },
  };
}

export type FileWays = ReturnType<typeof useFileWays>;
