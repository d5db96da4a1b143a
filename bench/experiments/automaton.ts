// Automata for experiment X4: sequences of byte sets, by the subset construction, not minimised. Newline restarts.

/** A set of bytes that is read once, or once and more. */
export interface Step {
  readonly isMember: (byte: number) => boolean;
  readonly isRepeated: boolean;
}

/** States from `acceptFrom` on are accepting; `next` has 256 entries for each. */
export interface Automaton {
  readonly stateCount: number;
  readonly first: number;
  readonly acceptFrom: number;
  readonly next: Uint16Array;
}

const NEWLINE = 10;

export function buildAutomaton(sequences: readonly (readonly Step[])[]): Automaton {
  const existing = new Map<string, number>();
  const positions: string[][] = [];
  const rows: number[][] = [];
  const idOf = (set: ReadonlySet<string>): number => {
    const key = [...set].toSorted().join(' ');
    const id = existing.get(key) ?? existing.size;
    if (id === existing.size) {
      existing.set(key, id);
      positions.push([...set]);
    }
    return id;
  };
  idOf(new Set());
  for (let id = 0; id < positions.length; id++) {
    const row: number[] = [];
    for (let byte = 0; byte < 256; byte++) {
      row.push(
        idOf(byte === NEWLINE ? new Set() : positionsAfter(sequences, positions[id] ?? [], byte)),
      );
    }
    rows.push(row);
  }
  const accepts = positions.map((list) => list.some((position) => isLast(sequences, position)));
  return renumber(rows, accepts);
}

function parsePosition(position: string): [sequence: number, step: number] {
  const [sequence = 0, step = 0] = position.split(',').map(Number);
  return [sequence, step];
}

function isLast(sequences: readonly (readonly Step[])[], position: string): boolean {
  const [sequence, step] = parsePosition(position);
  return step === (sequences[sequence]?.length ?? 0) - 1;
}

function positionsAfter(
  sequences: readonly (readonly Step[])[],
  positions: readonly string[],
  byte: number,
): Set<string> {
  const after = new Set<string>();
  const read = (sequence: number, step: number): void => {
    if (sequences[sequence]?.[step]?.isMember(byte) === true) after.add(`${sequence},${step}`);
  };
  for (const sequence of sequences.keys()) read(sequence, 0);
  for (const position of positions) {
    const [sequence, step] = parsePosition(position);
    if (sequences[sequence]?.[step]?.isRepeated === true) read(sequence, step);
    read(sequence, step + 1);
  }
  return after;
}

function renumber(rows: readonly number[][], accepts: readonly boolean[]): Automaton {
  const order = [...rows.keys()].toSorted(
    (a, b) => Number(accepts[a]) - Number(accepts[b]) || a - b,
  );
  const newIds = new Map(order.map((id, index) => [id, index]));
  const next = order.flatMap((id) => (rows[id] ?? []).map((target) => newIds.get(target) ?? 0));
  return {
    stateCount: rows.length,
    first: newIds.get(0) ?? 0,
    acceptFrom: accepts.filter((isAccepting) => !isAccepting).length,
    next: Uint16Array.from(next),
  };
}

/** Bytes of one class lead to the same states. */
export function byteClasses(automaton: Automaton): { classOf: Uint8Array; count: number } {
  const existing = new Map<string, number>();
  const classOf = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    const column = automaton.next.filter((_, index) => (index & 255) === byte).join(' ');
    const id = existing.get(column) ?? existing.size;
    existing.set(column, id);
    classOf[byte] = id;
  }
  return { classOf, count: existing.size };
}
