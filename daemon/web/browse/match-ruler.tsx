// A strip beside the code with a mark for each match, at its position in the file.

import type { FileMatch } from '../code/match-marks.ts';

interface MatchRulerProps {
  readonly matches: readonly FileMatch[];
  readonly lineCount: number;
}

export function MatchRuler({ matches, lineCount }: MatchRulerProps) {
  if (matches.length === 0) return null;
  const lines = [...new Set(matches.map(({ start }) => start.lineNumber))];
  return (
    <div className="match-ruler" aria-hidden>
      {lines.map((line) => (
        <span
          key={line}
          className="match-tick"
          style={{ top: `${((line - 1) / Math.max(lineCount, 1)) * 100}%` }}
        />
      ))}
    </div>
  );
}
