// Formulas for a measure that grows: y = a, y = a + b x, y = a x^k, each by least squares of relative errors. The one
// that predicts left-out points best is taken; how far it is off is said with it.

export interface Point {
  /** Above 0. */
  readonly x: number;
  /** Above 0. */
  readonly y: number;
}

interface Formula {
  /** With `x`, to three significant digits. */
  readonly text: string;
  readonly at: (x: number) => number;
}

type Fit = (points: readonly Point[]) => Formula;

export interface Curve {
  readonly formula: Formula;
  /** Root of the mean squared relative error of each point predicted from all others. */
  readonly leftOutError: number;
  /** Relative, with sign: the largest x predicted from all smaller ones. */
  readonly largestError: number;
  /** The same from those of at most an eighth of the largest x; undefined if these are fewer than three. */
  readonly farError: number | undefined;
  /** Formulas about as good (up to twice the error left out), with the chosen one: their spread is that of a projection. */
  readonly rivals: readonly Formula[];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** The line through weighted points: a + b u. */
function lineOf(rows: readonly { u: number; v: number; weight: number }[]): [a: number, b: number] {
  const total = sum(rows.map(({ weight }) => weight));
  const meanU = sum(rows.map(({ u, weight }) => weight * u)) / total;
  const meanV = sum(rows.map(({ v, weight }) => weight * v)) / total;
  const covariance = sum(rows.map(({ u, v, weight }) => weight * (u - meanU) * (v - meanV)));
  const slope = covariance / sum(rows.map(({ u, weight }) => weight * (u - meanU) ** 2));
  return [meanV - slope * meanU, slope];
}

const constant: Fit = (points) => {
  const a = sum(points.map(({ y }) => 1 / y)) / sum(points.map(({ y }) => 1 / y ** 2));
  return { text: digits(a), at: () => a };
};

const line: Fit = (points) => {
  const [a, b] = lineOf(points.map(({ x, y }) => ({ u: x, v: y, weight: 1 / y ** 2 })));
  const sign = b < 0 ? '-' : '+';
  return { text: `${digits(a)} ${sign} ${digits(Math.abs(b))} x`, at: (x) => a + b * x };
};

const power: Fit = (points) => {
  const rows = points.map(({ x, y }) => ({ u: Math.log(x), v: Math.log(y), weight: 1 }));
  const [a, k] = lineOf(rows);
  return { text: `${digits(Math.exp(a))} x^${digits(k)}`, at: (x) => Math.exp(a) * x ** k };
};

/** Errors that differ by less are equal; the first of equals, which is the simplest, is taken. */
const ROUNDING = 1e-9;
const FITS: readonly Fit[] = [constant, line, power];

function errorAt(formula: Formula, { x, y }: Point): number {
  return formula.at(x) / y - 1;
}

function leftOutError(fit: Fit, points: readonly Point[]): number {
  const errors = points.map((point) => errorAt(fit(points.filter((one) => one !== point)), point));
  return Math.sqrt(sum(errors.map((error) => error ** 2)) / errors.length);
}

/** Costs do not shrink: a formula that falls until `target` is none. */
function isRising({ at }: Formula, { x }: Point, target: number): boolean {
  return at(target) >= at(x);
}

/** `target`: the x to be projected to. Errors: fewer than four points, or two with the same x. */
export function fitCurve(given: readonly Point[], target: number): Curve {
  const points = given.toSorted((a, b) => a.x - b.x);
  const largest = points.at(-1);
  if (
    largest === undefined ||
    points.length < 4 ||
    new Set(points.map(({ x }) => x)).size < points.length
  )
    throw new Error(`a curve needs four points of different x, not ${String(points.length)}`);
  const tried = FITS.filter((fit) => isRising(fit(points), largest, target)).map((fit) => ({
    fit,
    error: leftOutError(fit, points),
  }));
  const best = tried.reduce((a, b) => (b.error < a.error - ROUNDING ? b : a));
  const far = points.filter(({ x }) => x <= largest.x / 8);
  return {
    formula: best.fit(points),
    leftOutError: best.error,
    largestError: errorAt(best.fit(points.slice(0, -1)), largest),
    farError: far.length < 3 ? undefined : errorAt(best.fit(far), largest),
    rivals: tried
      .filter(({ error }) => error <= 2 * best.error + ROUNDING)
      .map(({ fit }) => fit(points)),
  };
}
