// Definition patterns of the languages read by patterns (patterns.ts). They see comments and strings as spaces. To exclude
// slow contents, each repetition is bounded, or followed by something it cannot match, and no two adjacent repetitions can
// match the same text.

import type { SymbolKind } from './kinds.ts';

export interface Hidden {
  readonly opens: string;
  /** Its end, except after a backslash; a function returns the literal end. Without an end: the end of the text. */
  readonly closes: string | ((opening: string) => string);
  /** `name`: its content is one name; `joins`: its line ends are hidden too; default: line ends stay. */
  readonly as?: 'name' | 'joins';
}

export interface Rule {
  /** `scope`: its name is the parent of its content, but not a definition. Undefined: skipped. */
  readonly kind?: SymbolKind | 'scope';
  /** The name is `NAME`, or its own group; the match ends with it, except for look-ahead. */
  readonly pattern: string;
  /** Contexts of the rule; undefined: everywhere, and it ends everything open. */
  readonly within?: readonly string[];
  /** The context that it opens, from the next bracket `body` on, or at once, up to one of the characters `until`. */
  readonly opens?: string;
  readonly body?: '{' | '(';
  readonly until?: string;
  /** It extends to the next line that begins with this word and has the same indentation. */
  readonly endsWith?: string;
  readonly isRest?: true;
  /** Only if the file has no definition of this name yet: the clauses of a function. */
  readonly isFirstOnly?: true;
}

export interface PatternLanguage {
  readonly hidden: readonly Hidden[];
  /** Pairs, each opening bracket followed by its closing one: `{}()`. */
  readonly brackets: string;
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly isCaseBlind?: boolean;
}

/** The rules with their contexts. */
const within = (contexts: string, rules: readonly Rule[]): Rule[] =>
  rules.map((rule) => ({ ...rule, within: contexts.split(' ') }));
const FIELDS = { opens: 'fields', body: '{' } as const;
const VALUES = { opens: 'values', body: '{' } as const;
const ROUTINES = { opens: 'routines', until: '', isRest: true } as const;
const COLUMNS = { opens: 'columns', body: '(' } as const;

const LINE_COMMENT = (mark: string): Hidden => ({ opens: mark, closes: '\\n' });
const BLOCK_COMMENT: Hidden = { opens: '/\\*', closes: '\\*/' };
const QUOTED = (quote: string): Hidden => ({ opens: quote, closes: `\\\\[^\\n]|${quote}|\\n` });

const GRAPHQL: PatternLanguage = {
  hidden: [LINE_COMMENT('#'), { opens: '"""', closes: '\\\\"""|"""' }, QUOTED('"')],
  brackets: '{}()[]',
  name: '[A-Za-z_]\\w*',
  rules: [
    ...within('top', [
      { kind: 'scope', pattern: '\\bextend\\s+(?:type|interface|input)\\s+NAME', ...FIELDS },
      { kind: 'scope', pattern: '\\bextend\\s+enum\\s+NAME', ...VALUES },
      { pattern: '\\bextend\\s+(?:union|scalar|schema)\\b' },
      { kind: 'class', pattern: '\\btype\\s+NAME', ...FIELDS },
      { kind: 'interface', pattern: '\\binterface\\s+NAME', ...FIELDS },
      { kind: 'struct', pattern: '\\binput\\s+NAME', ...FIELDS },
      { kind: 'enum', pattern: '\\benum\\s+NAME', ...VALUES },
      { kind: 'union', pattern: '\\bunion\\s+NAME' },
      { kind: 'type', pattern: '\\bscalar\\s+NAME' },
      { kind: 'macro', pattern: '\\bdirective\\s*@\\s*NAME' },
      { kind: 'function', pattern: '\\b(?:query|mutation|subscription)\\s+NAME' },
      { kind: 'object', pattern: '\\bfragment\\s+(?!on\\b)NAME' },
    ]),
    ...within('fields values', [{ pattern: '@\\w+' }]),
    ...within('fields', [{ kind: 'field', pattern: '\\bNAME(?=\\s*[:(])' }]),
    ...within('values', [{ kind: 'enumMember', pattern: '\\bNAME' }]),
  ],
};

const PROTOBUF: PatternLanguage = {
  hidden: [LINE_COMMENT('//'), BLOCK_COMMENT, QUOTED('"'), QUOTED("'")],
  brackets: '{}()[]',
  name: '[A-Za-z_]\\w*',
  rules: [
    ...within('top fields values methods', [{ pattern: '\\boption\\s+[\\w(][^;{}]{0,4000}' }]),
    ...within('top', [
      { kind: 'package', pattern: '\\bpackage\\s+([A-Za-z_][\\w.]*)(?=\\s*;)', isRest: true },
    ]),
    ...within('top fields', [
      { kind: 'struct', pattern: '\\bmessage\\s+NAME(?=\\s*\\{)', ...FIELDS },
      { kind: 'enum', pattern: '\\benum\\s+NAME(?=\\s*\\{)', ...VALUES },
      { kind: 'scope', pattern: '\\bextend\\s+\\.?(?:\\w+\\.)*NAME(?=\\s*\\{)', ...FIELDS },
    ]),
    ...within('top', [
      {
        kind: 'interface',
        pattern: '\\bservice\\s+NAME(?=\\s*\\{)',
        opens: 'methods',
        body: '{',
      },
    ]),
    ...within('methods', [{ kind: 'method', pattern: '\\brpc\\s+NAME(?=\\s*\\()' }]),
    ...within('fields', [
      { kind: 'struct', pattern: '\\bgroup\\s+NAME(?=\\s*=)', ...FIELDS },
      { kind: 'field', pattern: '\\boneof\\s+NAME(?=\\s*\\{)', ...FIELDS },
      { kind: 'field', pattern: '\\bNAME(?=\\s*=\\s*\\d)' },
    ]),
    ...within('values', [{ kind: 'enumMember', pattern: '\\bNAME(?=\\s*=\\s*-?\\s*\\d)' }]),
  ],
};

const DOCKERFILE: PatternLanguage = {
  hidden: [
    { opens: '^[ \\t]*#[^\\n]*\\n?', closes: '', as: 'joins' },
    { opens: '\\\\[ \\t]*\\r?\\n', closes: '', as: 'joins' },
    { opens: '<<-?["\']?\\w{1,100}["\']?', closes: (opening) => `\n${/\w+/.exec(opening)?.[0]}` },
    { opens: '"', closes: '\\\\\\r?\\n|\\\\.|"|\\n', as: 'joins' },
    { opens: "'", closes: "\\\\\\r?\\n|'|\\n", as: 'joins' },
  ],
  brackets: '',
  name: '[\\w.-]+',
  rules: [
    ...within('top', [
      {
        kind: 'label',
        pattern: '^[ \\t]*FROM[ \\t]+(?:--\\S+[ \\t]+)*\\S+[ \\t]+AS[ \\t]+NAME',
      },
      { kind: 'variable', pattern: '^[ \\t]*ARG[ \\t]+NAME', opens: 'arguments', until: '\n' },
      { kind: 'variable', pattern: '^[ \\t]*ENV[ \\t]+NAME(?==)', opens: 'pairs', until: '\n' },
      { kind: 'variable', pattern: '^[ \\t]*ENV[ \\t]+NAME' },
    ]),
    ...within('arguments', [{ kind: 'variable', pattern: '(?<=[ \\t])NAME(?=[=\\s]|$)' }]),
    ...within('pairs', [{ kind: 'variable', pattern: '(?<=[ \\t])NAME(?==)' }]),
  ],
  isCaseBlind: true,
};

const MAKE_WORDS =
  '-?include|sinclude|unexport|vpath|ifn?eq|ifn?def|else|endif|endef|load|\\.[A-Z_]+';

const MAKEFILE: PatternLanguage = {
  hidden: [
    { opens: '\\\\\\r?\\n', closes: '', as: 'joins' },
    { opens: '(?<!\\\\)#', closes: '\\\\\\r?\\n|\\n' },
    {
      opens: '(?=\\n)(?<=^[ ]*(?:override[ \\t]+|export[ \\t]+)?define[ \\t][^\\n]{0,1000})\\n',
      closes: '^[ \\t]*endef\\b',
    },
  ],
  brackets: '',
  name: '[^\\s:#=$(){}&|;!?+\'",]+',
  rules: [
    ...within('top', [
      {
        kind: 'variable',
        pattern: '^[ ]*(?:(?:export|override|private)[ \\t]+){0,3}NAME(?=[ \\t]*(?:[?!]|:{1,3})?=)',
      },
      // Not in recipes, where these operators assign nothing.
      { kind: 'variable', pattern: '^[ \\t]*NAME(?=[ \\t]*(?:\\?|:{1,3})=)' },
      {
        kind: 'variable',
        pattern: '^[ ]*(?:(?:export|override)[ \\t]+){0,2}define[ \\t]+NAME',
      },
      {
        pattern: `^[ ]*(?!(?:${MAKE_WORDS})\\b)(?=[^\\s#:=$'"][^:=\\n]{0,4000}:(?!:?:?=))`,
        opens: 'targets',
        until: ':\n',
      },
    ]),
    ...within('targets', [{ kind: 'label', pattern: '(?<![^\\s])NAME(?=[\\s:&])' }]),
  ],
};

const SQL_QUALIFIER = '(?:["`[]?[\\w$#\\u0080-\\uffff]+["`\\]]?\\s*\\.\\s*){0,4}["`[]?';
const SQL_END = '(?=["`\\]]?';

function created(what: string, options: string, kind: SymbolKind, more: Partial<Rule> = {}): Rule {
  const { pattern = '', ...rest } = more;
  return {
    kind,
    pattern:
      `\\bcreate\\s+(?:or\\s+(?:replace|alter)\\s+)?(?:(?:${options})\\s+){0,4}(?:${what})\\s+` +
      `(?:concurrently\\s+)?(?:if\\s+not\\s+exists\\s+)?${SQL_QUALIFIER}NAME${pattern}`,
    ...rest,
  };
}

const TABLE_OPTIONS = 'global|local|temp|temporary|unlogged|external|foreign|virtual|transient';
const ROUTINE_OPTIONS = 'definer\\s*=\\s*\\S{1,200}|editionable|noneditionable|aggregate';
/** Keywords that begin a table element other than a column; a column may also be named `key` or `fulltext`. */
const NO_COLUMN =
  '(?:constraint|primary|unique|check|foreign|exclude|like|select|with|values)\\b|period\\s+for\\b|' +
  '(?:fulltext|spatial)\\s+(?:key|index)\\b|' +
  '(?:key|index)\\s+["`]?\\w+["`]?\\s*(?:using\\s+\\w+\\s*)?\\(\\s*[^\\d\\s]';

const SQL: PatternLanguage = {
  hidden: [
    LINE_COMMENT('--'),
    BLOCK_COMMENT,
    { opens: "'", closes: "\\\\\\\\|\\\\'(?!\\s*(?:[,;)]|\\|\\||escape\\b|ESCAPE\\b|$))|'" },
    { opens: '\\$\\w{0,63}\\$', closes: (mark) => mark },
    { opens: '"', closes: '"', as: 'name' },
    { opens: '`', closes: '`', as: 'name' },
    { opens: '\\[', closes: '\\]|\\n', as: 'name' },
  ],
  brackets: '()',
  name: '[\\w$#\\u0080-\\uffff]+',
  rules: [
    created('table', TABLE_OPTIONS, 'struct', {
      pattern: `${SQL_END}\\s*\\()`,
      ...COLUMNS,
    }),
    created('table', TABLE_OPTIONS, 'struct'),
    created('view', `${TABLE_OPTIONS}|materialized|recursive|force|${ROUTINE_OPTIONS}`, 'struct'),
    created('function|procedure|proc|aggregate', ROUTINE_OPTIONS, 'function'),
    created('type', ROUTINE_OPTIONS, 'type', {
      pattern: `${SQL_END}\\s+as\\s*\\()`,
      ...COLUMNS,
    }),
    created('type\\s+body', ROUTINE_OPTIONS, 'type', ROUTINES),
    created('type|domain', ROUTINE_OPTIONS, 'type'),
    created('schema|database', 'or', 'namespace'),
    created('package\\s+body|package', ROUTINE_OPTIONS, 'package', ROUTINES),
    // Only with a body: a mere declaration is defined elsewhere.
    {
      kind: 'function',
      pattern:
        '(?:^|;|\\b[ai]s\\s)[ \\t]*(?:(?:member|static|overriding|final|constructor|map|order)\\s+){0,4}(?:procedure|function)\\s+' +
        `["]?NAME${SQL_END}[^;]{0,4000}?\\b(?:is|as)\\b)`,
      within: ['routines'],
    },
    // Ends a package in Oracle scripts.
    { pattern: '^/(?=[ \\t\\r]*$)' },
    created(
      'index(?!\\s+(?:concurrently\\s+)?on\\b)',
      'unique|clustered|nonclustered|fulltext|spatial|bitmap',
      'other',
    ),
    created(
      'sequence|trigger|event\\s+trigger|event|policy|synonym',
      `${TABLE_OPTIONS}|public|constraint|${ROUTINE_OPTIONS}`,
      'other',
    ),
    {
      kind: 'field',
      pattern: `(?=["\`[\\w\\u0080-\\uffff])(?<=[(,]\\s*)(?!${NO_COLUMN})["\`[]?NAME${SQL_END}\\s+["\`[\\w])`,
      within: ['columns'],
    },
  ],
  isCaseBlind: true,
};

const ELIXIR_MODULE = (word: string): string =>
  `^[ \\t]*${word}[ \\t(]+(?![a-z_])((?:\\w+\\.)*[\\w\\u0080-\\uffff]+)`;
/** Without operators, whose left operand precedes them where a name would be. */
const ELIXIR_FUNCTIONS = (words: string): string =>
  `^[ \\t]*(?:${words})[ \\t(]+(?!unquote\\b)NAME(?=[\\s(,])(?!\\s+[-<>~+*/|&^=!]{1,4}\\s)`;
const NOT_DEFINED =
  'moduledoc|doc|typedoc|spec|impl|behaviour|derive|dialyzer|compile|deprecated|on_load|before_compile|after_compile|' +
  'external_resource|enforce_keys|optional_callbacks|tag|moduletag|describetag|attr|shortdoc|requirements|' +
  'type|typep|opaque|callback|macrocallback|fallback_to_any|since|on_definition|vsn|file|for|protocol';

const ELIXIR: PatternLanguage = {
  hidden: [
    { opens: '"""', closes: '\\\\[^\\n]|"""' },
    { opens: "'''", closes: "\\\\[^\\n]|'''" },
    { opens: '\\?\\\\?["\'#]', closes: '' },
    ...['//', '||', '{}', '()', '[]', '<>'].map(([open, close]): Hidden => ({
      opens: `~[a-zA-Z]+\\${open}`,
      closes: `\\\\[^\\n]|\\${close}`,
    })),
    { opens: '"', closes: '\\\\[^\\n]|"' },
    { opens: "(?<![\\w?!])'", closes: "\\\\[^\\n]|'" },
    LINE_COMMENT('#'),
  ],
  brackets: '',
  name: '[\\w\\u0080-\\uffff]+[?!]?',
  rules: [
    { kind: 'module', pattern: ELIXIR_MODULE('defmodule'), endsWith: 'end' },
    { kind: 'interface', pattern: ELIXIR_MODULE('defprotocol'), endsWith: 'end' },
    { kind: 'scope', pattern: ELIXIR_MODULE('defimpl'), endsWith: 'end' },
    { kind: 'macro', pattern: ELIXIR_FUNCTIONS('defmacrop?|defguardp?') },
    { kind: 'function', pattern: ELIXIR_FUNCTIONS('defp?|defdelegate') },
    { kind: 'type', pattern: '^[ \\t]*@(?:typep?|opaque)[ \\t]+NAME(?=[\\s(:])' },
    { kind: 'method', pattern: '^[ \\t]*@(?:macro)?callback[ \\t]+NAME(?=[\\s(:])' },
    { kind: 'constant', pattern: `^[ \\t]*@(?!(?:${NOT_DEFINED})\\b)NAME(?=[ \\t]+[^=\\s])` },
  ],
};

/** Types before a name: `^String`, `^{:private true}`. */
const CLOJURE_META = '(?:\\^(?:[\\w:./*-]+|\\{[^{}]{0,2000}\\})\\s*){0,5}';
const CLOJURE_NAME = `\\s+${CLOJURE_META}(?![:\\d])NAME`;
/** A form, also of another namespace: `s/defn`. */
const clojureForm = (words: string): string =>
  `\\(\\s*(?:[\\w.-]+/)?(?:${words})(?=\\s)${CLOJURE_NAME}`;

const CLOJURE: PatternLanguage = {
  hidden: [
    { opens: '\\\\[^\\s]', closes: '' },
    LINE_COMMENT(';'),
    { opens: '"', closes: '\\\\[^]|"' },
  ],
  brackets: '()',
  name: '[^\\s()[\\]{}"`@;^~\\\\,]+',
  rules: [
    ...within('top none', [
      { kind: 'namespace', pattern: `\\(ns${CLOJURE_NAME}`, isRest: true },
      {
        kind: 'interface',
        pattern: clojureForm('defprotocol|definterface'),
        opens: 'signatures',
        until: ')',
      },
      { kind: 'macro', pattern: clojureForm('defmacro-?') },
      { kind: 'struct', pattern: clojureForm('defrecord|defstruct') },
      { kind: 'class', pattern: clojureForm('deftype') },
      { kind: 'function', pattern: clojureForm('defn-?|defmulti|deftest-?|defspec') },
      { kind: 'variable', pattern: clojureForm('def(?!ault|method)[a-z-]*') },
    ]),
    ...within('signatures', [{ pattern: '\\(', opens: 'signature', until: ')' }]),
    ...within('signature', [
      { kind: 'method', pattern: `(?<=\\(\\s{0,9}${CLOJURE_META})(?![:^])NAME(?=\\s*\\[)` },
    ]),
  ],
};

const HASKELL_SIGN = '[!#$%&*+./<=>?@\\\\^|~:-]';
const HASKELL_TYPE = "([A-Z][\\w'.]*)";
/** Constraints before a name, which end before the next line that is not indented. */
const HASKELL_CONTEXT = '(?:(?:[^=|{};:\\n]|\\n[ \\t]){0,200}=>\\s*)?';
/** What stands before the constructor of a type: its variables and constraints. */
const HASKELL_BEFORE = `(?:forall\\b[^.=|]{0,200}\\.\\s*)?${HASKELL_CONTEXT}`;
/** The names beside one and the sign before their type. */
const haskellSigned = (name: string): string => `(?=(?:\\s*,\\s*${name}){0,20}\\s*::)`;
const HASKELL_WORDS =
  'module|import|data|newtype|type|class|instance|deriving|default|foreign|infix[lr]?|where|pattern';

const CONSTRUCTORS = { opens: 'constructors', until: '' } as const;

const HASKELL: PatternLanguage = {
  hidden: [
    { opens: `(?<!${HASKELL_SIGN})--+(?!${HASKELL_SIGN})`, closes: '\\n' },
    { opens: '\\{-', closes: '-\\}' },
    { opens: "(?<![\\w'])'(?:\\\\(?:[^\\n']{1,8}|')|[^\\\\\\n'])'", closes: '' },
    { opens: '"', closes: '\\\\[^]|"|\\n' },
  ],
  brackets: '',
  name: "[a-z_\\u0080-\\uffff][\\w'\\u0080-\\uffff]*",
  rules: [
    { kind: 'module', pattern: `^module\\s+${HASKELL_TYPE}`, isRest: true },
    {
      kind: 'type',
      pattern: `^(?:data|newtype)\\s+[a-z]\\w*\\s+(:${HASKELL_SIGN}{1,9})(?=\\s)`,
      ...CONSTRUCTORS,
    },
    {
      kind: 'type',
      pattern: `^(?:data|newtype)\\s+(?!instance\\b)(?:family\\s+)?${HASKELL_CONTEXT}${HASKELL_TYPE}`,
      ...CONSTRUCTORS,
    },
    { kind: 'type', pattern: `^type\\s+(?:family\\s+)?${HASKELL_TYPE}` },
    {
      kind: 'interface',
      pattern: `^class\\s+${HASKELL_CONTEXT}${HASKELL_TYPE}`,
      opens: 'methods',
      until: '',
    },
    ...within('constructors', [
      {
        kind: 'enumMember',
        pattern: `(?<!${HASKELL_SIGN})[=|](?!${HASKELL_SIGN})\\s*${HASKELL_BEFORE}(?:[^=|:{}\\n]|\\n[ \\t]){1,200}\\s(:(?!:\\s)${HASKELL_SIGN}{0,9})(?=\\s)`,
      },
      {
        kind: 'enumMember',
        pattern: `(?<!${HASKELL_SIGN})[=|](?!${HASKELL_SIGN})\\s*${HASKELL_BEFORE}${HASKELL_TYPE}`,
      },
      {
        kind: 'enumMember',
        pattern: `(?:^[ \\t]+|,[ \\t]*)${HASKELL_TYPE}${haskellSigned("[A-Z][\\w']*")}`,
      },
      {
        kind: 'field',
        pattern: `[{,]\\s*NAME${haskellSigned("[a-z_][\\w']*")}`,
      },
    ]),
    ...within('methods', [
      {
        kind: 'method',
        pattern: `(?:^[ \\t]+|[{;,]\\s*)NAME${haskellSigned("[a-z_][\\w']*")}`,
      },
      {
        kind: 'method',
        pattern: `^[ \\t]+\\((${HASKELL_SIGN}{1,9})(?=\\)\\s*::)`,
      },
    ]),
    { kind: 'function', pattern: `^foreign\\s+import\\s+(?:\\w+\\s+){1,3}NAME(?=\\s*::)` },
    { kind: 'function', pattern: `^pattern\\s+${HASKELL_TYPE}`, isFirstOnly: true },
    {
      kind: 'function',
      pattern: `^(?!(?:${HASKELL_WORDS})\\b)NAME${haskellSigned("[a-z_][\\w']*")}`,
    },
    {
      kind: 'function',
      pattern: `,(?<=^[a-z_][\\w', \\t]{0,200})[ \\t]*NAME${haskellSigned("[a-z_][\\w']*")}`,
    },
    { kind: 'function', pattern: `^\\((${HASKELL_SIGN}{1,9})(?=\\)\\s*::)` },
    {
      kind: 'function',
      pattern: `^(?!(?:${HASKELL_WORDS})\\b)[a-z_][\\w']*[ \\t]+(?!(?:[=|@~!\\\\]|::|->|<-)[ \\t])(${HASKELL_SIGN}{1,9})(?=[ \\t]+[^=\\n]{1,200}=)`,
      isFirstOnly: true,
    },
    {
      kind: 'function',
      pattern: `^(?!(?:${HASKELL_WORDS})\\b)NAME(?=(?:[ \\t][^\\n=|]{0,400})?(?:\\n[ \\t]+)?[=|](?!${HASKELL_SIGN}))`,
      isFirstOnly: true,
    },
    // Whatever else begins a line ends what is open.
    { pattern: '^[^\\s]' },
  ],
};

const SQL_LANGUAGES = ['SQL', 'PLSQL', 'PLpgSQL', 'SQLPL', 'TSQL'] as const;

export const PATTERN_LANGUAGES: ReadonlyMap<string, PatternLanguage> = new Map([
  ['Clojure', CLOJURE],
  ['Dockerfile', DOCKERFILE],
  ['Elixir', ELIXIR],
  ['GraphQL', GRAPHQL],
  ['Haskell', HASKELL],
  ['Makefile', MAKEFILE],
  ['Protocol Buffer', PROTOBUF],
  ...SQL_LANGUAGES.map((language) => [language, SQL] as const),
]);
