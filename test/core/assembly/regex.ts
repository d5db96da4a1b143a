// Entry file of the tests of core/regex: its functions, and the simulation alone beside the chosen engine.

import { Arena, arenaInit } from '../../../core/base/arena';
import { beginWork, isStopped as stopped } from '../../../core/base/work';
import { Work } from '../../../core/regex/closure';
import { Automaton } from '../../../core/regex/program';
import {
  beginRegexes as begin,
  beginRegexText,
  compileRegex as compile,
  compileRegexWithin as compileWithin,
  countRegex,
  findRegex,
  forgetRegexTexts,
  foundEnd as endOfMatch,
  foundStart as startOfMatch,
  regexClearCount,
  regexSimulationCount,
  regexStatus as status,
  testRegex,
} from '../../../core/regex/regex';
import { simulate, simulatedEnd, simulatedStart } from '../../../core/regex/simulate';

export { beginWork, beginRegexText, countRegex, findRegex, forgetRegexTexts, regexClearCount, regexSimulationCount, testRegex };

const arena = changetype<Arena>(memory.data(12, 8));

export function heapBase(): usize {
  return __heap_base;
}

/** Makes [start, end) the arena for later compilations. */
export function beginRegexes(start: usize, end: usize): i32 {
  arenaInit(arena, start, end);
  return begin(arena, 1);
}

export function compileRegex(program: usize, size: u32): usize {
  return compile(arena, program, size);
}

export function compileRegexWithin(program: usize, size: u32, forwardSize: usize, reverseSize: usize): usize {
  return compileWithin(arena, program, size, forwardSize, reverseSize);
}

export function isStopped(): bool {
  return stopped;
}

export function regexStatus(): i32 {
  return status;
}

export function foundStart(): usize {
  return startOfMatch;
}

export function foundEnd(): usize {
  return endOfMatch;
}

/** As findRegex for an expression that spans lines, by simulation alone. */
export function simulateRegex(regex: usize, textStart: usize, textEnd: usize, from: usize, until: usize): bool {
  // The addresses of the automaton and of the working memory are the first and the fourth field.
  const forward = changetype<Automaton>(<usize>load<u32>(regex));
  const work = changetype<Work>(<usize>load<u32>(regex, 12));
  return simulate(forward, work, textStart, textEnd, from, until, textEnd, true);
}

export function simulatedMatchStart(): usize {
  return simulatedStart;
}

export function simulatedMatchEnd(): usize {
  return simulatedEnd;
}
