// Expressions outside the plan, for the host. The request is not changed.

import { arenaMark, arenaReset } from '../base/arena.ts';
import { beginWork, isStopped } from '../base/work.ts';
import { STATUS_OK, STATUS_STOPPED } from '../shared/status.ts';
import { beginRegexes, compileRegex, engineOf, regexStatus, testRegex } from '../regex/regex.ts';
import { TEXT_ANY } from '../regex/text.ts';
import { requestArena } from './request.ts';

/**
 * Tests names against a regular expression: for each of the `count` rows (address, size) a byte, 1
 * or 0, goes to `out`. STATUS_STOPPED (base/work.ts): untested ones are omitted.
 */
export function testNames(program: usize, size: u32, rows: usize, count: u32, out: usize): i32 {
  const mark = arenaMark(requestArena);
  const regex = compileAlone(program, size);
  beginWork();
  for (let i: u32 = 0; regex != 0 && i < count && !isStopped; i++) {
    const start = <usize>load<u32>(rows + (<usize>i << 3));
    const isMatch = testRegex(regex, start, start + load<u32>(rows + (<usize>i << 3), 4), TEXT_ANY);
    store<u8>(out + i, isMatch ? 1 : 0);
  }
  arenaReset(requestArena, mark);
  return regex == 0 ? aloneStatus : isStopped ? STATUS_STOPPED : STATUS_OK;
}

/** The engine for a program on a content, or on a name (`isTest`): ENGINE_*, or a status. */
export function regexEngine(program: usize, size: u32, isTest: bool): i32 {
  const mark = arenaMark(requestArena);
  const regex = compileAlone(program, size);
  const answer = regex == 0 ? aloneStatus : <i32>engineOf(regex, isTest);
  arenaReset(requestArena, mark);
  return answer;
}

let aloneStatus: i32 = STATUS_OK;

/** Compiles a program at the end of the arena; 0: see aloneStatus. */
function compileAlone(program: usize, size: u32): usize {
  aloneStatus = beginRegexes(requestArena, 1);
  if (aloneStatus != STATUS_OK) return 0;
  const regex = compileRegex(requestArena, program, size);
  if (regex == 0) aloneStatus = regexStatus;
  return regex;
}
