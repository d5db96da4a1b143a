// The benchmark cases: query, class (targets go by class), reason, and the searches that ripgrep would do. Expected
// counts depend on the corpus; those that expected.ts lacks are computed with ripgrep.

/** Classes of queries, each with its own target. */
export type CaseClass =
  | 'rare literal'
  | 'medium literal'
  | 'common literal'
  | 'any case'
  | '1-2 characters'
  | 'no match, gram missing'
  | 'no match, grams present'
  | 'boolean'
  | 'file filter'
  | 'language filter'
  | 'file name'
  | 'regex with literal'
  | 'regex, no literal'
  | 'class-run regex'
  | 'alternation'
  | "ripgrep's suite";

/** A query in terms of searches by ripgrep. `path`: the path of the file matches; a file must have all of `and`. */
export type Meaning =
  | { readonly literal: string }
  | { readonly regex: string }
  | { readonly path: RegExp }
  | { readonly and: readonly Meaning[] }
  | { readonly or: readonly Meaning[] }
  | { readonly not: Meaning };

export interface BenchCase {
  /** Key of expected counts and baselines. */
  readonly id: string;
  readonly query: string;
  readonly class: CaseClass;
  readonly why: string;
  readonly isCaseSensitive: boolean;
  /** Whether words and quotes of the query are regular expressions. */
  readonly isRegex?: true;
  readonly meaning: Meaning;
}

export function leafOf(meaning: Meaning): { text: string; isRegex: boolean } | undefined {
  if ('literal' in meaning) return { text: meaning.literal, isRegex: false };
  if ('regex' in meaning) return { text: meaning.regex, isRegex: true };
  return undefined;
}

/** `text` as a quoted item of the query language. */
export function quoteLiteral(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** `pattern` as a quoted item of a query of regular expressions, where only quotes are escaped. */
export function quotePattern(pattern: string): string {
  return `"${pattern.replaceAll(/\\.|"/gs, (part) => (part === '"' ? '\\"' : part))}"`;
}

function literal(
  text: string,
  caseClass: CaseClass,
  why: string,
  isCaseSensitive = true,
): BenchCase {
  const id = isCaseSensitive ? text : `(?i)${text}`;
  const meaning = { literal: text };
  return { id, query: quoteLiteral(text), class: caseClass, why, isCaseSensitive, meaning };
}

function composite(query: string, caseClass: CaseClass, why: string, meaning: Meaning): BenchCase {
  return { id: query, query, class: caseClass, why, isCaseSensitive: true, meaning };
}

function regex(
  pattern: string,
  caseClass: CaseClass,
  why: string,
  isCaseSensitive = true,
): BenchCase {
  const id = isCaseSensitive ? pattern : `(?i)${pattern}`;
  const meaning = { regex: pattern };
  const query = quotePattern(pattern);
  return { id, query, class: caseClass, why, isCaseSensitive, isRegex: true, meaning };
}

/** A pattern of ripgrep's own benchmarks on Linux, in one or both letter cases. */
function suite(pattern: string, why: string, caseModes: readonly boolean[] = [true]): BenchCase[] {
  return caseModes.map((isCaseSensitive) => {
    const entry = regex(pattern, "ripgrep's suite", why, isCaseSensitive);
    return { ...entry, id: `rg: ${entry.id}` };
  });
}

/** `count` words of five characters with `between` between them. */
function words(count: number, between: string): string {
  return Array.from({ length: count }, () => '\\w{5}').join(between);
}

const BOTH_CASES = [true, false];

export const LINUX_CASES: readonly BenchCase[] = [
  // The peers were measured on these.
  literal('PM_RESUME', 'rare literal', 'a handful of files; the price of a query as such'),
  literal('kmalloc', 'medium literal', 'frequent name, part of longer names'),
  literal('EXPORT_SYMBOL_GPL', 'medium literal', 'one hit a line in many files'),
  literal('mutex_lock_interruptible', 'medium literal', 'long literal with common grams'),
  literal('return', 'common literal', 'a word in most files: the limit on matches is reached'),
  literal('Copyright', 'common literal', 'in nearly every file, once or twice'),
  literal('zqjxkv', 'no match, gram missing', 'a gram that no file holds'),
  // Selectivity was measured on these.
  literal('static int', 'common literal', 'a blank inside, dense everywhere'),
  literal('struct file', 'medium literal', 'prefix of many longer names'),
  literal('spin_lock_irqsave', 'medium literal', 'long, one subsystem style'),
  literal('TODO', 'medium literal', 'short, upper case'),
  literal('int main', 'medium literal', 'common grams, few matches'),
  literal('err_free', 'medium literal', 'common grams, few matches'),
  literal('copyright', 'medium literal', 'the rarer spelling under common folded grams'),
  literal('if (ret)', 'common literal', 'punctuation, dense'),
  literal('pm_resume', 'any case', 'rare in any case', false),
  literal('kmalloc', 'any case', 'medium in any case', false),
  literal('copyright', 'any case', 'common, several spellings', false),
  literal('mutex_lock', 'any case', 'medium, long runs of candidates', false),
  // Shorter than a gram.
  literal('x', '1-2 characters', 'one letter: nothing can be skipped'),
  literal('->', '1-2 characters', 'two characters of punctuation'),
  literal('~/', '1-2 characters', 'two characters, rare together'),
  literal('§', '1-2 characters', 'one character of two bytes, rare'),
  literal('kmalloc_zzzq_absent', 'no match, gram missing', 'common start, then an absent gram'),
  literal(
    'mutex_lock_return_int',
    'no match, grams present',
    'every gram exists, the whole does not',
  ),
  literal('EXPORT_SYMBOL_interruptible', 'no match, grams present', 'two real names joined'),
  composite('PM_RESUME kmalloc', 'boolean', 'AND of rare and medium', {
    and: [{ literal: 'PM_RESUME' }, { literal: 'kmalloc' }],
  }),
  composite('mutex_lock_interruptible copy_from_user', 'boolean', 'AND of two medium literals', {
    and: [{ literal: 'mutex_lock_interruptible' }, { literal: 'copy_from_user' }],
  }),
  composite('PM_RESUME or mutex_lock_interruptible', 'boolean', 'OR of two literals', {
    or: [{ literal: 'PM_RESUME' }, { literal: 'mutex_lock_interruptible' }],
  }),
  composite('mutex_lock_interruptible -(kmalloc)', 'boolean', 'NOT of a medium literal', {
    and: [{ literal: 'mutex_lock_interruptible' }, { not: { literal: 'kmalloc' } }],
  }),
  composite('file:^drivers/net/ kmalloc', 'file filter', 'one folder', {
    and: [{ path: /^drivers\/net\// }, { literal: 'kmalloc' }],
  }),
  composite('-file:\\.[ch]$ kmalloc', 'file filter', 'all but the most frequent endings', {
    and: [{ not: { path: /\.[ch]$/ } }, { literal: 'kmalloc' }],
  }),
  composite('lang:rust unsafe', 'language filter', 'a language of few files', {
    and: [{ path: /\.rs$/ }, { literal: 'unsafe' }],
  }),
  composite('file:mutex\\.c$', 'file name', 'by name only, no content', { path: /mutex\.c$/ }),
  regex('copyright.*torvalds', 'regex with literal', 'two literals in a line, any case', false),
  regex('err(no)?\\s*=\\s*-E[A-Z]+;', 'regex with literal', 'weak literals'),
  regex('[A-Z]+_SUSPEND', 'regex with literal', 'literal at the end'),
  regex('spin_lock.*irq', 'regex with literal', 'two frequent names in a line'),
  regex('static.*inline.*void', 'regex with literal', 'three frequent words in a line'),
  regex('kmalloc\\(.*GFP_ATOMIC', 'regex with literal', 'medium and rarer literal in a line'),
  regex('^#define\\s+\\w+_MASK\\b', 'regex with literal', 'anchored at the start of lines'),
  regex('enum\\s+\\w+\\s*\\{[^}]*\\}', 'regex with literal', 'ranges over several lines'),
  regex('\\d{9,}', 'class-run regex', 'run of digits'),
  regex('\\w{5}\\s+\\w{5}\\s+\\w{5}', 'regex, no literal', 'no literal at all'),
  regex(words(5, ' +'), 'regex, no literal', 'no literal, within a line as line tools search'),
  regex('PM_RESUME|PM_SUSPEND|PM_FREEZE|PM_THAW', 'alternation', 'four rare names'),
  regex('kmalloc|kzalloc|vmalloc', 'alternation', 'three medium names'),
  regex('(get|set)_user_pages?', 'alternation', 'alternatives within a name'),
  // https://github.com/BurntSushi/ripgrep/blob/master/benchsuite/benchsuite
  ...suite('PM_RESUME', 'linux_literal', BOTH_CASES),
  ...suite('\\bPM_RESUME\\b', 'linux_word'),
  ...suite('[A-Z]+_RESUME', 'linux_re_literal_suffix'),
  ...suite('\\p{Greek}', 'linux_unicode_greek', BOTH_CASES),
  ...suite('\\wAh', 'linux_unicode_word, an ASCII class here'),
  ...suite(words(5, '\\s+'), 'linux_no_literal, ranges may cross lines here'),
  ...suite('ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT', 'linux_alternates', BOTH_CASES),
];

/** Ids of the cases whose first streamed result is timed as well: words in most files. */
export const STREAM_CASE_IDS: ReadonlySet<string> = new Set(['return', 'Copyright', 'function']);

/** Cases for any tree of source code. */
export const COMMON_CASES: readonly BenchCase[] = [
  literal('function', 'common literal', 'a word in most files'),
  literal('Copyright', 'medium literal', 'in the head of files'),
  literal('copyright', 'any case', 'several spellings', false),
  literal('x', '1-2 characters', 'one letter'),
  literal('=>', '1-2 characters', 'two characters of punctuation'),
  literal('zqjxkv', 'no match, gram missing', 'a gram that no file holds'),
  composite('function Copyright', 'boolean', 'two frequent words in one file', {
    and: [{ literal: 'function' }, { literal: 'Copyright' }],
  }),
  composite('function -(Copyright)', 'boolean', 'one frequent word without another', {
    and: [{ literal: 'function' }, { not: { literal: 'Copyright' } }],
  }),
  composite('file:\\.json$ name', 'file filter', 'one ending', {
    and: [{ path: /\.json$/ }, { literal: 'name' }],
  }),
  regex('copyright.*[0-9]{4}', 'regex with literal', 'a word and a number, any case', false),
  regex('function\\s+\\w+\\(', 'regex with literal', 'a literal and runs of classes'),
  regex('\\w{5}\\s+\\w{5}\\s+\\w{5}', 'regex, no literal', 'no literal at all'),
  regex('export|import|require', 'alternation', 'three words'),
  composite('file:package\\.json$', 'file name', 'by name only', { path: /package\.json$/ }),
];
