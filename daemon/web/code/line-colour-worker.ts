// Colours runs of lines, away from the page. A parser that cannot be had leaves the text plain.

/// <reference lib="webworker" />

import type { FromLineColourer, ToLineColourer } from './colour-messages.ts';
import { pieceParserOf } from './languages.ts';
import { coloursOf } from './piece-colours.ts';

async function colour({ key, language, runs }: ToLineColourer): Promise<void> {
  const pieces = await Promise.all(
    runs.map(async (lines) => {
      const parser = await pieceParserOf(language, lines).catch(() => undefined);
      return parser === undefined ? undefined : coloursOf(parser, lines);
    }),
  );
  if (pieces.includes(undefined)) return;
  const colours = pieces.flatMap((piece) => piece ?? []);
  self.postMessage({ key, colours } satisfies FromLineColourer);
}

self.addEventListener('message', ({ data }: MessageEvent<ToLineColourer>) => void colour(data));
