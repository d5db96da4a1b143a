// A loaded file: its bar, its content, the panel below it, and its keys.

import { useEffect, useMemo, useRef, useState } from 'react';
import type { getSource } from '../../api/sources/source-endpoints.ts';
import { isBinary } from '../code/binary.ts';
import type { CodeHandle } from '../code/code-view.tsx';
import { atLines, type LineRange, lineRangeOf } from '../code/line-range.ts';
import { canWrap } from '../code/editor-options.ts';
import type { NameLocation } from '../code/names.ts';
import type { AddressParameters } from '../data/address-parameters.ts';
import type { AnswerOf } from '../data/api.ts';
import { editorLink } from '../data/editors.ts';
import { useRemembered } from '../data/remembered.ts';
import { useKeys } from '../parts/keys.ts';
import { toast } from '../parts/toasts.ts';
import type { BrowseTarget } from './address.ts';
import { FileBar } from './file-bar.tsx';
import { useFileBlame } from './file-blame.ts';
import { FileBody } from './file-body.tsx';
import { hasPreview, isPicture } from './file-kind.ts';
import { isOtherThanIndexed } from './file-notices.tsx';
import { FilePanels } from './file-panels.tsx';
import { type Panels, usePanels } from './panels.ts';
import { type FileWays, useFileWays } from './file-actions.ts';
import type { IndexEntry } from './index-entry.ts';
import { LinesMenu } from './lines-menu.tsx';
import { type MatchSteps, useMatchSteps } from './match-steps.ts';
import { useFileParameters } from './file-parameters.ts';
import { useOutline } from './outline.tsx';
import { rawAddress } from './file-queries.ts';

function countLines(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** The view of the file. The address comes first; a link to a line, blame or a query means the code. */
function viewOf(path: string, { valueOf }: AddressParameters): 'code' | 'preview' | undefined {
  if (!hasPreview(path)) return undefined;
  const requestedView = valueOf('view');
  if (requestedView === 'code' || requestedView === 'preview') return requestedView;
  const isOfText = ['highlightRange', 'blame', 'query'].some((name) => valueOf(name) !== undefined);
  return isOfText ? 'code' : 'preview';
}

interface KeyTargets {
  readonly code: CodeHandle | null;
  readonly ways: FileWays;
  readonly panels: Panels;
  readonly steps: MatchSteps;
  readonly toggleBlame: (() => void) | undefined;
  readonly toggleOutline: (() => void) | undefined;
  readonly copyLink: () => void;
}

/** Binds the page's keys. `code` is read when a key is pressed. */
function useFileKeys(targets: () => KeyTargets): void {
  const { ways, panels, steps, toggleBlame, toggleOutline } = targets();
  const { exploration, isHistoryOpen, toggleHistory, toggleWidth, close } = panels;
  const onName = (run: (at: NameLocation) => void) => () => {
    const at = targets().code?.name();
    if (at === undefined) toast('There is no name at the caret');
    else run(at);
  };
  const definition = onName(ways.goToDefinition);
  const references = onName(({ name }) => ways.findReferences(name));
  const find = (): boolean => {
    const { code } = targets();
    if (code === null || code.isFindOpen()) return false;
    code.openFind();
    return true;
  };
  /** In the query box, Esc belongs to the box. */
  const closePanel = ({ target }: KeyboardEvent): boolean => {
    if (target instanceof Element && target.closest('[role="search"]') !== null) return false;
    close();
    return true;
  };
  useKeys({
    blame: toggleBlame,
    outline: toggleOutline,
    history: toggleHistory,
    explore: exploration === undefined ? references : close,
    allRepos: exploration === undefined ? undefined : toggleWidth,
    pin: ways.pin,
    copyLink: targets().copyLink,
    copyLocation: ways.copyLocation,
    definition,
    references,
    card: () => targets().code?.openCard(),
    goToLine: () => targets().code?.openGoToLine(),
    findText: find,
    nextHit: () => steps.step(1),
    previousHit: () => steps.step(-1),
    closePanel: exploration !== undefined || isHistoryOpen ? closePanel : undefined,
  });
}

/** Records the file as viewed. */
function useNoted({ repo, path }: BrowseTarget): void {
  const noteFile = useRemembered((state) => state.noteFile);
  const isConfirmed = useRemembered((state) => state.isConfirmed);
  useEffect(() => noteFile({ repo, path }), [repo, path, noteFile, isConfirmed]);
}

/** The selected lines of a text. */
function useSelected(text: string) {
  const [selected, setSelected] = useState<LineRange>();
  // A new text gets a new view, without a selection.
  useEffect(() => setSelected(undefined), [text]);
  return [selected, setSelected] as const;
}

/** Of a file that is shown as text: its lines, the range and the view of the address. */
function textFacts(path: string, text: string, parameters: AddressParameters) {
  const isText = !isPicture(path) && !isBinary(text);
  if (!isText) return { isText };
  const range = lineRangeOf(parameters.valueOf('highlightRange'));
  return { isText, lineCount: countLines(text), range, view: viewOf(path, parameters) };
}

/** The address that opens the selected line in the reader's editor. */
function useEditorAddress({ repo, path }: BrowseTarget, range: LineRange | undefined) {
  const { from: line = 1, fromColumn: column = 1 } = range ?? {};
  return editorLink(useRemembered(), { repo, path, line, column });
}

interface LoadedFileProps {
  readonly target: BrowseTarget;
  readonly source: AnswerOf<typeof getSource>;
  readonly entry: IndexEntry | undefined;
}

export function LoadedFile({ target, source, entry }: LoadedFileProps) {
  const { source: text, language, externalWebUrl, repoCodeHostType, blobSha } = source;
  const parameters = useFileParameters();
  const { valueOf, change } = parameters;
  useNoted(target);
  const code = useRef<CodeHandle>(null);
  const ways = useFileWays(target, language);
  const panels = usePanels(() => code.current?.focus());
  const steps = useMatchSteps(target, parameters, text);
  const { isText, lineCount, range, view } = textFacts(target.path, text, parameters);
  const [selected, setSelected] = useSelected(text);
  const chosen = selected ?? range;
  const copyLink = () => ways.copyLink(selected);
  const isBlamed = isText && valueOf('blame') === '1';
  const { blame, isOfOther, fault } = useFileBlame(target, blobSha, entry, isBlamed);
  const toggleBlame = () => change({ blame: isBlamed ? undefined : '1', view: undefined });
  const outline = useOutline();
  const editorAddress = useEditorAddress(target, chosen);
  useFileKeys(() => ({
    code: code.current,
    ways,
    panels,
    steps,
    toggleBlame: isText ? toggleBlame : undefined,
    toggleOutline: isText ? outline.toggle : undefined,
    copyLink,
  }));
  const menu = { text, copyLink, explore: ways.findReferences };
  return (
    <>
      <FileBar
        language={language}
        lineCount={lineCount}
        canWrap={useMemo(() => canWrap(text), [text])}
        view={view}
        setView={(chosen) => change({ view: chosen, blame: undefined })}
        isBlamed={isBlamed}
        toggleBlame={toggleBlame}
        outline={outline}
        panels={panels}
        rawAddress={rawAddress(target)}
        externalAddress={externalWebUrl && atLines(externalWebUrl, repoCodeHostType, chosen)}
        editorAddress={editorAddress}
        matches={steps}
        linesMenu={chosen && view !== 'preview' && <LinesMenu range={chosen} {...menu} />}
        copyLink={copyLink}
        pin={ways.pin}
        fault={fault}
      />
      <FileBody
        target={target}
        text={text}
        language={language}
        lineCount={lineCount}
        isPreviewed={view === 'preview'}
        outline={outline}
        blame={blame}
        entry={entry}
        range={range}
        isChanged={steps.areOfOther || isOtherThanIndexed(entry, blobSha)}
        showCommitted={isOfOther ? ways.pin : undefined}
        steps={steps}
        ways={ways}
        code={code}
        onSelect={setSelected}
      />
      <FilePanels target={target} panels={panels} />
    </>
  );
}
