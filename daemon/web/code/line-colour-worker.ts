// Computes syntax colours for runs of lines in a worker. If a parser cannot be loaded, the text stays plain.

/// <reference lib="webworker" />

import type { FromLineColourer, ToLineColourer } from './colour-messages.ts';
import { fragmentParserOf } from './languages.ts';
import { coloursOf } from './fragment-colours.ts';

async function colour({ key, language, runs }: ToLineColourer): Promise<void> {
  const runColours = await Promise.all(
    runs.map(async (lines) => {
      const parser = await fragmentParserOf(language, lines).catch(() => undefined);
      return parser === undefined ? undefined : coloursOf(parser, lines);
    }),
  );
  if (runColours.includes(undefined)) return;
  const colours = runColours.flatMap((lineColours) => lineColours ?? []);
  self.postMessage({ key, colours } satisfies FromLineColourer);
}

self.addEventListener('message', ({ data }: MessageEvent<ToLineColourer>) => void colour(data));
