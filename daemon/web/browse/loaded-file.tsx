// A file that is there: its bar, what it is shown as, the panel below it, and its keys.

import { useRef } from 'react';
import type { getSource } from '../../http/api/sources/source-endpoints.ts';
import type { CodeHandle } from '../code/code-view.tsx';
import type { NamePlace } from '../code/names.ts';
import type { AnswerOf } from '../data/api.ts';
import type { Place } from './address.ts';
import { FileBar } from './file-bar.tsx';
import { FileBody } from './file-body.tsx';
import { hasPreview, isBinary, isPicture } from './file-kind.ts';
import { FilePanels } from './file-panels.tsx';
import { usePanels } from './panels.ts';
import type { Panels } from './panels.ts';
import { useFileWays } from './file-ways.ts';
import type { FileWays } from './file-ways.ts';
import { useBlame } from './history-reading.ts';
import { useKeys } from './keys.ts';
import { useMatchSteps } from './match-steps.ts';
import type { MatchSteps } from './match-steps.ts';
import { useParameters } from './parameters.ts';
import { rawAddress } from './reading.ts';
import { useSaid } from './said.ts';

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/** How the file is shown; what the address says goes before. A link to a line means the text. */
function viewOf(path: string, parameters: URLSearchParams): 'code' | 'preview' | undefined {
  if (!hasPreview(path)) return undefined;
  const asked = parameters.get('view');
  if (asked === 'code' || asked === 'preview') return asked;
  const isOfText = ['highlightRange', 'blame', 'query'].some((name) => parameters.has(name));
  return isOfText ? 'code' : 'preview';
}

interface KeyTargets {
  readonly code: CodeHandle | null;
  readonly ways: FileWays;
  readonly panels: Panels;
  readonly steps: MatchSteps;
  readonly toggleBlame: (() => void) | undefined;
  readonly say: (text: string) => void;
}

/** What the keys of the page do here; `code` is asked when they are pressed. */
function useFileKeys(targets: () => KeyTargets): void {
  const { ways, panels, steps, toggleBlame, say } = targets();
  const { exploration, isHistoryOpen, toggleHistory, toggleWidth, close } = panels;
  const onName = (run: (at: NamePlace) => void) => () => {
    const at = targets().code?.name();
    if (at === undefined) say('The caret is on no name');
    else run(at);
  };
  const definition = onName(ways.goToDefinition);
  const references = onName(ways.findReferences);
  const find = (): boolean => {
    const { code } = targets();
    if (code === null || code.isFindOpen()) return false;
    code.openFind();
    return true;
  };
  useKeys({
    b: toggleBlame,
    h: toggleHistory,
    'mod+shift+h': toggleHistory,
    'mod+shift+e': exploration === undefined ? references : close,
    'shift+a': exploration === undefined ? undefined : toggleWidth,
    y: ways.pin,
    c: ways.copyLink,
    'shift+c': ways.copyPlace,
    d: definition,
    'alt+F12': definition,
    r: references,
    'alt+shift+F12': references,
    i: () => targets().code?.openCard(),
    l: () => targets().code?.openGoToLine(),
    'mod+f': find,
    n: () => steps.step(1),
    p: () => steps.step(-1),
    Escape: exploration !== undefined || isHistoryOpen ? close : undefined,
  });
}

interface LoadedFileProps {
  readonly place: Place;
  readonly source: AnswerOf<typeof getSource>;
}

export function LoadedFile({ place, source }: LoadedFileProps) {
  const { source: text, language, externalWebUrl } = source;
  const { parameters, change } = useParameters();
  const [said, say] = useSaid();
  const code = useRef<CodeHandle>(null);
  const ways = useFileWays(place, language, say);
  const panels = usePanels(() => code.current?.focus());
  const steps = useMatchSteps(place, parameters);
  const isText = !isPicture(place.path) && !isBinary(text);
  const lineCount = isText ? countLines(text) : undefined;
  const view = isText ? viewOf(place.path, parameters) : undefined;
  const isBlamed = isText && parameters.get('blame') === '1';
  const blame = useBlame(place, isBlamed);
  const toggleBlame = () => change({ blame: isBlamed ? undefined : '1', view: undefined });
  useFileKeys(() => ({
    code: code.current,
    ways,
    panels,
    steps,
    toggleBlame: isText ? toggleBlame : undefined,
    say,
  }));
  return (
    <>
      <FileBar
        language={language}
        lineCount={lineCount}
        view={view}
        setView={(chosen) => change({ view: chosen, blame: undefined })}
        isBlamed={isBlamed}
        toggleBlame={toggleBlame}
        isHistoryOpen={panels.isHistoryOpen}
        toggleHistory={panels.toggleHistory}
        rawAddress={rawAddress(place)}
        externalAddress={externalWebUrl}
        matches={steps}
        copyLink={ways.copyLink}
        pin={ways.pin}
        said={blame.error?.message ?? said}
      />
      <FileBody
        place={place}
        text={text}
        language={language}
        lineCount={lineCount}
        isPreviewed={view === 'preview'}
        blame={isBlamed ? blame.data : undefined}
        steps={steps}
        ways={ways}
        code={code}
      />
      <FilePanels place={place} panels={panels} />
    </>
  );
}
