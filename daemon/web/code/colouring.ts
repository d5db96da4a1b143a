// Colours in the code view: those of the part that is near the window, asked of a worker. Text is there before they are, and
// they never change its geometry.

import { RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Transaction } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin } from '@codemirror/view';
import type { DecorationSet, PluginValue, ViewUpdate } from '@codemirror/view';
import type { FromColourer, ToColourer } from './colour-messages.ts';

/** Characters around what is seen that are coloured with it. */
const MARGIN = 10_000;
/** Characters that are coloured at once, at most: a line may have millions of them. */
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

/** Are the colours others from then on? */
export function bringsColours({ effects }: Transaction): boolean {
  return effects.some((effect) => effect.is(setColours));
}

/** Classes of the colour at a position, such as `code-keyword`; '': none. */
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

/** What is near the window. */
function partOf({ visibleRanges, state }: EditorView): Part {
  const from = visibleRanges[0]?.from ?? 0;
  const to = Math.min(visibleRanges.at(-1)?.to ?? 0, from + PART_MAX);
  return { from: Math.max(0, from - MARGIN), to: Math.min(state.doc.length, to + MARGIN) };
}

function isWithin({ visibleRanges }: EditorView, { from, to }: Part): boolean {
  const first = visibleRanges[0]?.from ?? 0;
  return from <= first && Math.min(visibleRanges.at(-1)?.to ?? 0, first + PART_MAX) <= to;
}

/** One part is asked for at a time; what is out of the window when it comes is not drawn. */
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
