// The syntax tree of a regular expression. Flags are resolved into nodes; groups have no node, since nothing captures.

export interface CodePointRange {
  readonly start: number;
  readonly end: number;
}

export type CodePointRanges = readonly CodePointRange[];

/** One code point; `isFolded`: in any case. */
export interface LiteralNode {
  readonly kind: 'literal';
  readonly codePoint: number;
  readonly isFolded: boolean;
}

export interface AnyNode {
  readonly kind: 'any';
  readonly hasNewline: boolean;
}

/** `\p{name}`, or `\P{name}` if negated, inside a class; a general category, a script or `Any`. */
export interface UnicodeProperty {
  readonly name: string;
  readonly isNegated: boolean;
}

/** One code point of a set; folding is applied before negation. */
export interface ClassNode {
  readonly kind: 'class';
  /** Ascending, neither overlapping nor adjacent. */
  readonly ranges: CodePointRanges;
  readonly properties: readonly UnicodeProperty[];
  readonly isNegated: boolean;
  readonly isFolded: boolean;
}

/** Holds between two code points. `lineStart` and `lineEnd` also hold at the ends of the text. */
export interface AssertionNode {
  readonly kind: 'assertion';
  readonly at: Assertion;
}

export type Assertion =
  'lineStart' | 'lineEnd' | 'textStart' | 'textEnd' | 'wordBorder' | 'notWordBorder';

export interface Repeat<Tree> {
  readonly kind: 'repeat';
  readonly child: Tree;
  readonly min: number;
  /** Absent: unlimited. */
  readonly max?: number;
  /** Prefers as few as possible. */
  readonly isLazy: boolean;
}

export type RepeatNode = Repeat<RegexTree>;

/** Children in sequence; none: the empty text. Never exactly one. */
export interface Sequence<Tree> {
  readonly kind: 'sequence';
  readonly children: readonly Tree[];
}

/** At least two children, earlier ones preferred. */
export interface Choice<Tree> {
  readonly kind: 'choice';
  readonly children: readonly Tree[];
}

export type RegexTree =
  | LiteralNode
  | AnyNode
  | ClassNode
  | AssertionNode
  | RepeatNode
  | Sequence<RegexTree>
  | Choice<RegexTree>;
