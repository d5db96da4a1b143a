// Colours runs of lines, away from the page. A parser that cannot be had leaves the text plain.

/// <reference lib="webworker" />

import type { FromLineColourer, ToLineColourer } from './colour-messages.ts';
import { coloursOf } from './highlighter.ts';
import { parserOf } from './languages.ts';

async function colour({ key, language, runs }: ToLineColourer): Promise<void> {
  const parser = await parserOf(language).catch(() => undefined);
  if (parser === undefined) return;
  const colours = runs.flatMap((lines) => coloursOf(parser, lines));
  self.postMessage({ key, colours } satisfies FromLineColourer);
}

self.addEventListener('message', ({ data }: MessageEvent<ToLineColourer>) => void colour(data));
