// Syntax colours in the code view, for the part near the window, computed by a worker. The text appears first; colours
// never move it.

import { RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Transaction } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin } from '@codemirror/view';
import type { DecorationSet, PluginValue, ViewUpdate } from '@codemirror/view';
import type { FromColourer, ToColourer } from './colour-messages.ts';

/** Characters around the visible part that are coloured along with it. */
const MARGIN = 10_000;
/** Characters in one request. Why: a single line may have millions. */
const PART_MAX = 60_000;

const setColours = StateEffect.define<FromColourer>();

const marks = new Map<string, Decoration>();

function markOf(name: string): Decoration {
  const cached = marks.get(name) ?? Decoration.mark({ class: name });
  marks.set(name, cached);
  return cached;
}

function decorations(colours: FromColourer): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to, name } of colours) builder.add(from, to, markOf(name));
  return builder.finish();
}

const colourField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { effects }) {
    const effect = effects.find((one) => one.is(setColours));
    return effect === undefined ? before : decorations(effect.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Does the transaction bring new colours? */
export function bringsColours({ effects }: Transaction): boolean {
  return effects.some((effect) => effect.is(setColours));
}

/** CSS class of the colour at a position, such as `code-keyword`; '': none. */
export function colourAt(state: EditorState, position: number): string {
  let found = '';
  state.field(colourField, false)?.between(position, position, (from, to, { spec }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `markOf` makes them
    if (from <= position && position < to) found = (spec as { readonly class: string }).class;
  });
  return found;
}

interface Part {
  readonly from: number;
  readonly to: number;
}

/** The part near the window. */
function partOf({ visibleRanges, state }: EditorView): Part {
  const from = visibleRanges[0]?.from ?? 0;
  const to = Math.min(visibleRanges.at(-1)?.to ?? 0, from + PART_MAX);
  return { from: Math.max(0, from - MARGIN), to: Math.min(state.doc.length, to + MARGIN) };
}

function isWithin({ visibleRanges }: EditorView, { from, to }: Part): boolean {
  const first = visibleRanges[0]?.from ?? 0;
  return from <= first && Math.min(visibleRanges.at(-1)?.to ?? 0, first + PART_MAX) <= to;
}

/** Requests one part at a time. An answer for a part that has left the window is not drawn. */
class Colourer implements PluginValue {
  readonly #worker = new Worker(new URL('./colour-worker.ts', import.meta.url), { type: 'module' });
  readonly #view: EditorView;
  #part: Part = { from: 0, to: -1 };
  #isAnswered = true;

  constructor(view: EditorView, language: string) {
    this.#view = view;
    this.#worker.addEventListener('message', ({ data }: MessageEvent<FromColourer>) =>
      this.#take(data),
    );
    this.#post({ type: 'open', language, text: view.state.sliceDoc() });
    this.#request();
  }

  update({ viewportChanged, geometryChanged }: ViewUpdate): void {
    if (viewportChanged || geometryChanged) this.#request();
  }

  destroy(): void {
    this.#worker.terminate();
  }

  #post(message: ToColourer): void {
    this.#worker.postMessage(message);
  }

  #take(colours: FromColourer): void {
    this.#isAnswered = true;
    if (isWithin(this.#view, this.#part)) this.#view.dispatch({ effects: setColours.of(colours) });
    else this.#request();
  }

  #request(): void {
    if (!this.#isAnswered || isWithin(this.#view, this.#part)) return;
    this.#part = partOf(this.#view);
    this.#isAnswered = false;
    this.#post({ type: 'colour', ...this.#part });
  }
}

export function colouring(language: string): Extension {
  return [colourField, ViewPlugin.define((view) => new Colourer(view, language))];
}
