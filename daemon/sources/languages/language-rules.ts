// Detects the language by the first bytes of a doc, for extensions that several languages claim. Rules use only signs that
// hardly occur by accident; without a match the extension's default counts.

/** Signs by language; the first that matches decides. */
type Rules = Readonly<Record<string, RegExp>>;

/** XML except drawings of Eagle. */
const XML = /^\s*<\?xml\b(?![^]{0,200}<!DOCTYPE eagle)/;

const MOTOROLA_68K =
  /\b(?:move[amq]?|movem|add[aiq]?|sub[aiq]?|cmp[ai]?|clr|tst|ls[lr]|and|or|dc)\.[bwl]\b|\((?:a[0-7]|sp)\)\+/i;
const UNIX_ASSEMBLY =
  /^[ \t]*(?:\.(?:text|globl|global|section|type|size|align|p2align|macro|file|cfi_\w+|word)\b)/m;
const INTEL_ASSEMBLY =
  /^[ \t]*;|^[ \t]+(?:push|pop|mov|call|jmp|ret|[dr][bwdq])[ \t]|^\w+[ \t]+equ[ \t]/im;
const EUPHORIA =
  /^(?:namespace \w|include \w+[./]|(?:global|public|export|override)\s+(?:function|procedure|constant|type|enum)\b|with(?:out)? \w+\s*$|(?:function|procedure) \w+\(|constant\b)/m;
const QUICK_BASIC =
  /^[ \t]*(?:DECLARE\s+(?:SUB|FUNCTION)\b|DEF(?:INT|LNG|SNG|DBL|STR)\s+[A-Z]|(?:'[ \t]*)?\$(?:INCLUDE|DYNAMIC|STATIC|CONSOLE|RESIZE)|OPTION\s+_EXPLICIT|COMMON\s+SHARED)/im;
const FREE_BASIC =
  /^[ \t]*(?:#(?:include|define|ifn?def|lang|pragma|macro)\b|dim\s+(?:shared\s+)?as\s|\/')|^''/im;
const FORTH: Rules = { Forth: /^: \S+|^\\ \w/m };
const ROFF: Rules = { Roff: /^[.'](?:\\"|[A-Za-z]{2}\b)/m };
const JSON_START = /^\s*[[{]/;
const XML_START = /^\s*<[!?\w]/;
/** The macros that begin a manual page; other Roff files have none of them. */
const PLAIN_ROFF: Rules = { Roff: /^(?![^]*(?:^|\n)\.(?:TH|Dt)[ \t])[^]/ };
/** OpenRA: indented by tabs, which YAML does not allow. */
const MINI_YAML: Rules = { MiniYAML: /^[\w.@^-]+:.*\r?\n\t+[\w.@^-]+:/m };

/** Keys: extension in lower case. */
export const RULES: Readonly<Record<string, Rules>> = {
  ...Object.fromEntries(
    '.1 .1in .1m .1x .2 .3 .3in .3m .3p .3pm .3qt .3x .4 .5 .6 .7 .8 .9 .man .mdoc'
      .split(' ')
      .map((extension) => [extension, PLAIN_ROFF]),
  ),
  '.al': { AL: /^[ \t]*(?:table|page|codeunit|report|query|enum|xmlport|\w+extension)\s+\d+\s/im },
  '.as': {
    AngelScript: /\w@\s+\w|^[ \t]*(?:void|u?int\d*|bool|float)\s+\w+\s*\(|\barray<\w|\bcast</m,
  },
  '.asc': {
    'Public Key': /^-----BEGIN PGP |^(?:ssh-(?:dss|rsa|ed25519)|ecdsa-sha2-\w+) AAAA/m,
    'AGS Script':
      /^[ \t]*(?:(?:export\s+)?function\s+\w+\s*\(|#define\s|enum\s+\w+\s*\{|import\s+\w)/m,
  },
  '.ash': {
    'KoLmafia ASH': /^[ \t]*(?:script\s+"|import\s+<|since\s+r?\d|notify\s+\w)|\bto_boolean\(/m,
  },
  '.asm': { 'Motorola 68K Assembly': MOTOROLA_68K },
  '.asy': { 'LTspice Symbol': /^SymbolType\s/m },
  '.b': {
    Limbo: /^[ \t]*(?:implement\s+\w+;|include\s+")|:\s*(?:con|fn|import|list of|ref)\b/m,
    B: /\bextrn\s+\w|^[ \t]*auto\s+\w+[,;]|^\w+\([\w\s,]*\)\s*\{/m,
    Brainfuck: /^[<>+\-.,[\]\s]+$|(?=[<>+\-.,[\]]*[<>])(?=[<>+\-.,[\]]*[+-])[<>+\-.,[\]]{12}/,
  },
  '.bas': {
    B4X: /^B4[AIJR]=true/,
    'Visual Basic 6.0':
      /^Attribute VB_Name\b[^]*(?:\bDeclare (?:Function|Sub) \w+ Lib\b|\bApp\.|\bAs Form\b)/m,
    VBA: /^Attribute VB_Name\b|\b(?:ThisWorkbook|ActiveWorkbook|ActiveDocument|PtrSafe)\b/m,
    QuickBASIC: QUICK_BASIC,
    FreeBASIC: FREE_BASIC,
  },
  '.bb': {
    Clojure: /^\s*\((?:comment|def|defmacro|defn-?|let|ns|require)\s/m,
    BlitzBasic: /^[ \t]*;|^[ \t]*(?:Local|Global|Type|Function|Field|Graphics|Print)\s+\S/m,
  },
  '.bf': {
    Beef: /^[ \t]*(?:using\s+[\w.]+;|namespace\s+[\w.]+)/m,
    Brainfuck: /\[-?[<>+]{1,20}[+\-<>[\].]*\]/,
    HyPhy:
      /^[ \t]*\/\*|[\w\])]\s*=\s*[\w{"(-].*;|\b(?:fprintf|fscanf|DataSet|ExecuteAFile|ChoiceList)\b|\bfunction\s+\w+\s*\(/m,
    Befunge: /[_|@"]/,
  },
  '.bi': { QuickBASIC: QUICK_BASIC },
  '.brd': { 'KiCad Legacy Layout': /^PCBNEW-BOARD\b/ },
  '.bs': {
    Bikeshed: /^\s*<pre class=['"]?metadata/i,
    'Bluespec BH': /^(?:package\s+\w+\s*(?:\(|where)|import\s+(?:qualified\s+)?\w+\s*$)/m,
  },
  '.bst': { BuildStream: /^kind:\s*\w/m },
  '.cairo': {
    'Cairo Zero': /^[ \t]*(?:from\s+[\w.]+\s+import\b|%\w+|func\s+\w+|\[?[af]p\b)|\bfelt\b/m,
  },
  '.cake': { CoffeeScript: /->\s*$|^\w+\s*=\s*require\b/m },
  '.cfg': { HAProxy: /^(?:global|defaults|(?:frontend|backend|listen)\s+\S+)\s*$/m },
  '.ch': { Charity: /^[ \t]*%|^[ \t]*(?:data|def)\s+\w+.*->/m },
  '.cl': {
    Cool: /^[ \t]*class\s+[A-Z]\w*\s*(?:inherits\s+\w+\s*)?\{/m,
    'Common Lisp': /^\s*(?:[(;]|#\|)/,
  },
  '.cls': {
    'Visual Basic 6.0': /^[ \t]*(?:Persistable|MTSTransactionMode|DataBindingBehavior)\s*=/m,
    VBA: /^VERSION \d|^Attribute VB_Name\b/m,
    'OpenEdge ABL':
      /^[ \t]*(?:USING\s+[\w.]+(?:\.\*)?\.|(?:INTERFACE|CLASS)\s+[\w.]+(?:\s+(?:INHERITS|IMPLEMENTS|ABSTRACT|USE-WIDGET-POOL)\b|\s*:)|ROUTINE-LEVEL\b|METHOD\s+PUBLIC\b)/im,
    Apex: /\b(?:public|private|global)\s+(?:\w+\s+){0,3}class\s+\w/i,
    ObjectScript: /^Class\s+[\w.%]+/m,
  },
  '.cp': { 'Component Pascal': /^[ \t]*MODULE\s+\w+;/m },
  '.cs': { Smalltalk: /^\w+\s+subclass:\s+#\w|^!\w+(?: class)? methodsFor:/m },
  '.csl': { XML: XML_START },
  '.cue': { 'Cue Sheet': /^[ \t]*(?:REM|FILE|TRACK|PERFORMER|TITLE) /m },
  '.d': {
    DTrace:
      /^#!.*dtrace|^provider\s+\w+\s*\{|^#pragma D |^(?:BEGIN|END|[\w*]+:[\w*]*:[\w*]*:[\w*]*)\s*(?:\{|$)/m,
    D: /^[ \t]*(?:module|import|alias|unittest)\b/m,
    Makefile: /^[^\s#:][^:\n]*:(?:[ \t].*)?\\?$/m,
  },
  '.ddl': { PLSQL: /\bvarchar2\b/i },
  '.dsc': {
    DenizenScript:
      /^[ \t]+(?:- \w|type:\s*(?:task|world|procedure|item|command|interact|assignment|entity|data)\b)/m,
  },
  '.dsp': { 'Microsoft Developer Studio Project': /^# Microsoft Developer Studio/ },
  '.e': { E: /^[ \t]*(?:def\s+\w+.*(?::=|\{)|pragma\.|to\s+\w+\(.*\{)/m, Euphoria: EUPHORIA },
  '.ecl': { ECLiPSe: /:-/, ECL: /:=|\b(?:RECORD|DATASET|OUTPUT|EXPORT)\b/ },
  '.es': { Erlang: /^#!.*escript|^-module\(/m },
  '.ex': {
    Elixir: /^[ \t]*(?:defmodule|defprotocol|defimpl|use|alias|import)\s+[A-Z]/m,
    Euphoria: EUPHORIA,
  },
  '.f': { 'Filebench WML': /^(?:set \$\w+=|define (?:fileset|process)\b)/m, ...FORTH },
  '.fcgi': { PHP: /^<\?php/ },
  '.for': FORTH,
  '.fpp': {
    FPP: /^[ \t]*(?:module\s+\w+\s*\{|@ \w|(?:active|passive|queued)\s+component\s|instance\s+\w+:|topology\s|port\s+\w+\s*[({]|(?:constant|enum|array|struct)\s+\w+\s*[={])/m,
  },
  '.fr': FORTH,
  '.frag': { JavaScript: /\bfunction\s*\(|^\}\)\(/m },
  '.frm': {
    INI: /^TYPE=\w/m,
    // A form of Office.
    VBA: /^Begin \{C62A69F0-/m,
  },
  '.fs': {
    Filterscript: /^#pragma (?:version|rs)\b|__attribute__\(\(kernel\)\)|\brs_\w+/m,
    GLSL: /^[ \t]*(?:#version|precision\s+\w+p\b|uniform\s|varying\s|void\s+main\s*\()/m,
    Forth: /^: \S+/m,
  },
  '.ftl': { Fluent: /^-?[a-zA-Z][\w-]* = /m },
  '.fx': { FLUX: /\)\s*=>\s*\(|^source\s/m },
  '.g': { 'G-code': /^[ \t]*[GMT]\d+(?:\.\d+)?(?:\s|;|$)/m },
  '.gd': {
    GAP: /^#{40}|\bDeclare(?:Attribute|Category|Global\w+|InfoClass|Operation|Property|Synonym|Representation)\b/m,
  },
  '.gml': {
    'Gerber Image': /^[DGMT]\d+\*/m,
    'Graph Modeling Language': /^[ \t]*graph\s*\[/m,
    XML: XML_START,
  },
  '.gs': {
    Gosu: /^uses java\./m,
    GLSL: /^#version\s+\d/m,
    Genie: /^[ \t]*(?:init\s*$|\[indent|uses\s*$)/m,
  },
  '.gst': { Gosu: /<%[@!]/ },
  '.gts': { 'Gerber Image': /^G04 |^%FS/m },
  '.h': {
    'Objective-C':
      /^[ \t]*(?:@(?:interface|protocol|class|property|end|import)\b|#[ \t]*import\b)/m,
    'C++': new RegExp(
      [
        String.raw`^[ \t]*(?:public|private|protected)[ \t]*:`,
        String.raw`^[ \t]*template[ \t]*<`,
        String.raw`^[ \t]*(?:inline[ \t]+)?namespace(?:[ \t]+[\w:]+)?[ \t]*(?:\{|$)`,
        String.raw`^[ \t]*using[ \t]+(?:namespace[ \t]+\w|\w+[ \t]*=|[\w:]+::\w+[ \t]*;)`,
        String.raw`^[ \t]*(?:enum[ \t]+)?class[ \t]+(?:\w+[ \t]+)?\w+(?:[ \t]+final)?[ \t]*(?:[{;]|:[ \t]*(?:public|private|protected|\w+[ \t]*\{))`,
        String.raw`^[ \t]*#[ \t]*include[ \t]*<(?:algorithm|array|atomic|chrono|c(?:assert|math|stddef|stdint|stdio|stdlib|string)|exception|functional|i?o?stream|iosfwd|list|map|memory|mutex|optional|queue|set|span|sstream|string|string_view|thread|tuple|type_traits|unordered_(?:map|set)|utility|variant|vector)>`,
        String.raw`\bstd::[a-z]`,
        String.raw`^[ \t]*(?:inline[ \t]+|static[ \t]+)?constexpr\b`,
      ].join('|'),
      'm',
    ),
  },
  '.hh': { Hack: /<\?hh\b/ },
  '.html': { Ecmarkup: /<emu-\w/ },
  '.i': {
    SWIG: /^[ \t]*%(?:module|include|inline|\{)/m,
    'Motorola 68K Assembly': MOTOROLA_68K,
    Assembly: INTEL_ASSEMBLY,
  },
  '.ice': { JSON: JSON_START },
  '.inc': {
    PHP: /<\?(?:php\b|=|\s)/,
    HTML: /^\s*<\/?(?:!doctype|!--|html|div|table|p|ul|a)\b/i,
    SourcePawn:
      /^[ \t]*(?:#pragma newdecls|methodmap\s|enum struct\s|public (?:const )?(?:Extension|SharedPlugin|Plugin)\b|(?:forward|native)\s+(?:void|Action|bool|int|any|float|char|Handle)\b)/m,
    Pawn: /^[ \t]*(?:native|stock|forward)\s+\w|^[ \t]*#(?:tryinclude|endinput)\b|^const \w+:\s*\{/m,
    NASL: /^[ \t]*include\("[\w.-]+\.inc"\);|\b(?:script_(?:id|name|family)|get_kb_item|security_(?:hole|note|warning|message))\(|^# .*\bNASL\b/m,
    BitBake: /^(?:[A-Z_]+(?:[:_]\w+)*\s*\?{0,2}[:+.]?=\s*"|inherit\s)/m,
    'Motorola 68K Assembly': MOTOROLA_68K,
    'POV-Ray SDL': /^[ \t]*#(?:declare|local|macro)\b/m,
    Assembly:
      /^[ \t]*(?:%(?:define|macro|ifdef|ifndef|include)|\.(?:macro|section|globl?))\b|^[ \t]+(?:push|pop|mov|call|jmp)[ \t]+[\w#]/m,
    SQL: /^(?:flush|select|update|insert into|create table|set global|--)\s/im,
    Pascal: /^[ \t]*(?:\{\$|unit\b|procedure\b|function\b.*:\s*\w+;|begin\s*$)/im,
  },
  '.j': {
    JASS: /\btakes\s+\w.*\breturns\s|^[ \t]*(?:globals|endglobals|endfunction)\b/m,
    Jasmin: /^[ \t]*\.(?:class|interface|super|bytecode|source|method|limit)\b/m,
  },
  '.jq': { JSONiq: /\(:\s|^[ \t]*(?:import module|jsoniq version|(?:let|for|variable) \$)/m },
  '.k': { KFramework: /^[ \t]*(?:module\s+[A-Z][A-Z0-9-]*\s*$|endmodule\b|syntax\s+\w+.*::=)/m },
  '.ks': {
    KerboScript:
      /^[ \t]*(?:clearscreen\.|(?:lock|set)\s+\w+\s+to\s|@lazyglobal|function\s+\w+\s*\{)/im,
  },
  '.l': {
    'Common Lisp': /^\((?:def|in-package)/im,
    PicoLisp: /^\((?:de|dm|class)\s/m,
    Roff: /^\.(?:\\|TH\s|SH\s)/m,
  },
  '.lean': { Lean: /^import [a-z]/m },
  '.lisp': {
    'Common Lisp':
      /^[ \t]*\((?:defun|defmacro|defpackage|in-package|defvar|defparameter|defclass)\b/im,
    NewLisp: /^[ \t]*\((?:define|load|module|context)\s/m,
  },
  '.lp': {
    Lambdapi: /^[ \t]*(?:require\s+(?:open\s+)?\w|(?:\w+\s+)?symbol\s|inductive\s|rule\s)/m,
    'Answer Set Programming':
      /:-|:~|^[ \t]*#(?:include|const|show|program|external)\b|^\w+\(.*\)\.\s*$/m,
  },
  '.ls': { LoomScript: /^[ \t]*package\b[\w.\s]*\{/m },
  '.m': {
    'Objective-C':
      /^[ \t]*(?:@(?:interface|class|protocol|property|end|synthesize|implementation|import)\b|#\s*(?:import|include|pragma)\b)/m,
    Mercury: /^:- (?:module|import_module)\b/m,
    Limbo: /^\w+:\s*module\s*\{/m,
    MUF: /^: \S+/m,
    M: /^[ \t]*;|^%?[A-Za-z]\w*(?:\([\w,.]*\))?[ \t]+;/m,
    'Wolfram Language': /\(\*[^)]*\*\)|^\w+\[.*\]\s*:?=/m,
    MATLAB: /^[ \t]*(?:%|function\b|classdef\b)|^\w+\s*=\s*(?:\w+\(.*\)|\[.*\]);/m,
  },
  '.m4': { M4Sugar: /^[ \t]*(?:A[CUMS]_[A-Z]|m4_\w)/m },
  '.mask': { 'Unity3D Asset': /^%(?:YAML|TAG !u!)/m },
  '.mc': {
    'Win32 Message File': /^(?:MessageId|MessageIdTypedef|LanguageNames)\s*=/im,
    M4: /^dnl\b/m,
  },
  '.md': { 'GCC Machine Description': /^;;|^\(define_(?:insn|expand|attr|c_enum|constants)\b/ },
  '.ml': {
    'Standard ML': /^[ \t]*(?:structure|signature|functor)\s+\w|^[ \t]*fun\s+\w+[^>\n]*=(?!>)/m,
  },
  '.mm': { XML: XML_START },
  // A gettext catalogue has no language.
  '.mo': {
    // oxlint-disable-next-line no-control-regex -- its magic number
    '': /^(?:\xde\x12\x04\x95|\x95\x04\x12\xde)/,
    Motoko: /^[ \t]*(?:import\s+\w+\s+"|(?:persistent\s+)?actor\b)/m,
  },
  '.mod': {
    XML: XML_START,
    'Linux Kernel Module': /^\S+\.k?o(?:\s|$)/,
    NMODL: /^[ \t]*(?:NEURON|PARAMETER|ASSIGNED|STATE|BREAKPOINT|UNITS|INITIAL)\s*\{/m,
    AMPL: /^[ \t]*(?:param|var|minimize|maximize|subject to)\b/m,
  },
  '.moo': { Mercury: /^:- (?:module|interface)\b/m },
  '.mps': { 'Mathematical Programming System': /^(?:NAME|ROWS|COLUMNS)\b/im },
  '.ms': {
    ...ROFF,
    'Unix Assembly': /^[ \t]+\.(?:word|macro|text|globl|section|include|align|byte)\b/m,
    MiniScript: /^[ \t]*end (?:if|while|for|function)\b|=\s*function\b/m,
    MAXScript: /^--|^[ \t]*(?:fn|macroscript|rollout|struct|on)\s+\w/m,
  },
  '.msg': {
    'OMNeT++ MSG':
      /^[ \t]*(?:packet|message|class|struct)\s+\w+.*\{|^(?:import|namespace)\s+[\w.]+;/m,
  },
  '.n': ROFF,
  '.nas': { Assembly: INTEL_ASSEMBLY },
  '.nb': { Text: /^(?![^]*(?:\(\*|Notebook\[|Cell\[))[^]/ },
  '.ncl': {
    'Gerber Image': /^G04 /m,
    Text: /^THE_URL:/m,
    NCL: /^[ \t]*(?:begin|end|load\s+"|;)|\baddfile\(|\bgsn_\w|^undef\(/m,
    Nickel: /^[ \t]*(?:let\b|\{|fun\s|import\s+")|\bstd\.\w|\|\s*default\b/m,
  },
  '.nr': ROFF,
  '.nu': { Nu: /^\((?:load|class|set|global|macro|import)\s|^;/m },
  '.odin': { 'Object Data Instance Notation': /=\s*<(?:"|\s*$|\d)/m },
  '.p': { Gnuplot: /^[ \t]*(?:s?plot|set\s+(?:term|terminal|output|xrange))\b/m },
  '.pbt': { PowerBuilder: /^Save Format v\d|^@begin\s/m },
  '.pc': { 'Pro*C': /\bEXEC\s+SQL\b/i },
  '.php': { Hack: /^<\?hh\b/ },
  // oxlint-disable-next-line no-control-regex -- versions of the format
  '.pkl': { Pickle: /^(?:\(\w|c\w[\w.]*\n|\x80[\x02-\x05])/ },
  '.pl': { Prolog: /^[^#%"'\n]*:-/m, Raku: /^[ \t]*use v6\b/m },
  '.plist': { 'OpenStep Property List': /^\s*(?:\{|\(|\/\/ !\$\*UTF8)/ },
  '.plt': { Prolog: /^:-\s*\w/m },
  '.pluginspec': { XML: XML_START },
  '.pm': {
    'X PixMap': /^\s*\/\* XPM \*\//,
    Raku: /^[ \t]*(?:use v6\b|unit (?:module|class)\b|(?:my\s+)?(?:class|role|grammar)\s+[\w:]+\s+(?:is|does)\s|multi\s+(?:sub|method)\s|has\s+(?:\w+\s+)?[$@%][.!])|[$@%]!\w+\s*[.;=]/m,
  },
  '.pod': { 'Pod 6': /^=(?:begin pod|comment)\b/m },
  '.pp': { Pascal: /^[ \t]*(?:\{\$|program\b|unit\b|uses\b|interface\s*$)/im },
  '.prc': { SQL: /^GO\s*$|\bdbo\./im },
  '.pro': {
    Prolog: /^[^#%"'\n]*:-/m,
    Proguard: /^-(?:keep|dont|optimiz|renamesource|basedirectory|include|injars|libraryjars)/m,
    INI: /^(?:last_client|update|version)=/m,
    IDL: /^[ \t]*(?:(?:pro|function)\s+[\w:]+\s*(?:,|$)|compile_opt\s)/im,
  },
  '.properties': { INI: /^[;[]/m },
  '.q': {
    q: /^\/\s*$|^\w+:\{|^\\[dl] /m,
    HiveQL: /\b(?:SELECT|CREATE\s+TABLE|INSERT\s+OVERWRITE)\b/i,
  },
  '.qs': { 'Qt Script': /\b(?:function|var)\s+\w+/ },
  '.r': {
    Rebol: /\bREBOL\s*\[/i,
    Rez: /^[ \t]*(?:resource|data|type|read)\s+'[^'\n]{4}'|^#include\s+["<]/m,
  },
  '.re': { 'C++': /^[ \t]*#\s*(?:include|define|if|pragma)\b|^[ \t]*template\s*</m },
  '.reds': {
    Redscript:
      /^[ \t]*(?:(?:public|private|protected|static|native|final|abstract)\s+){0,5}(?:func|class)\s+\w|^@(?:wrap|add|replace)\w+\(/m,
  },
  '.rno': { RUNOFF: /^\.!|^\.(?:lm|rm|ps|hl|page|title)\d*\b/im },
  '.rpy': {
    "Ren'Py":
      /^[ \t]*(?:label\s+\w+.*:|init\b|screen\s+\w|define\s+\w+\s*=|image\s+\w|menu:|transform\s)/m,
    Python: /^(?:from\s+[\w.]+\s+import\b|import\s+[\w.]+|class\s+\w+.*:|def\s+\w+\()/m,
  },
  '.rs': {
    RenderScript:
      /^#pragma\s+(?:version|rs)\b|^#include\s+["<]|\brs_(?:allocation|matrix|script|kernel)/m,
  },
  '.rsc': { Rascal: /^(?:module\s+[\w:]+\s*$|import\s+[\w:]+;|extend\s+[\w:]+;)/m },
  '.s': { 'Motorola 68K Assembly': MOTOROLA_68K, 'Unix Assembly': UNIX_ASSEMBLY },
  '.sc': { SuperCollider: /^[ \t]*[+*]\s*\w+\s*\{|\^[ \t]*this\b|\bSynthDef\b/m },
  '.scd': { Markdown: /^# /m },
  '.sch': { 'KiCad Schematic': /^(?:EESchema\b|\(kicad_sch)/, Eagle: /<eagle\b/ },
  '.scm': { 'Tree-sitter Query': /(?:^|[\s)\]])@[a-z][\w.]*(?=\s*(?:$|\)))/m },
  '.shader': {
    ShaderLab: /^[ \t]*Shader\s+"/m,
    GLSL: /^[ \t]*(?:#version|uniform\s|(?:void|float|vec[234]|mat[234])\s+\w+\s*\(|#define\s)/m,
  },
  '.sls': { Scheme: /^\s*[(;]/ },
  '.spec': {
    Python: /^(?:# -\*- mode: python|a = Analysis\()/m,
    Ruby: /^[ \t]*(?:describe|require)\b/m,
  },
  '.sql': {
    PLpgSQL: /\blanguage\s+['"]?plpgsql\b|^[ \t]*load\s+'plpgsql/im,
    TSQL: /^[ \t]*GO\s*$|\bdeclare\s+@\w|@@(?:fetch_status|rowcount|error|trancount)\b|\[dbo\]\.|\bbegin\s+(?:try|catch)\b|\bset\s+(?:nocount|quoted_identifier|ansi_nulls)\b|\bnvarchar\s*\(/im,
    PLSQL:
      /\bvarchar2\b|\bdbms_\w+\.|%(?:row)?type\b|\bpragma\s+\w|\bcreate\s+or\s+replace\s+(?:package|type)\b|^\/\s*$|\bexecute\s+immediate\b/im,
    SQLPL:
      /\bmodifies\s+sql\s+data\b|\bsyscat\.|\bsysibm\.|\bresult_set_locator\b|\bdeclare\s+sqlcode\b/im,
  },
  '.srt': { 'SRecode Template': /^;;|^(?:context|mode|template)\s+\w/m },
  '.st': {
    Smalltalk:
      /^!?\w+(?:\s+class)?\s+methodsFor:|\bsubclass:\s*#|^[ \t]*\|\s*[\w\s]*\|\s*$|:=\s*self\b|\bself\s+\w+:/m,
    StringTemplate: /^[ \t]*(?:group\s+\w+|\w+\([^)]*\)\s*::=)|\$\w[^\n$]*\$/m,
  },
  '.star': { STAR: /^(?:data_\w|loop_|_\w+\s)/m },
  '.svx': { 'Survex data': /^\*(?:begin|data|units|include|cs|fix|calibrate|export)\b/m },
  '.t': {
    Raku: /^[ \t]*use v6\b/m,
    Perl: /^[ \t]*(?:use\s+[\w:]+|my\s*[$@%(]|package\s+\w|BEGIN\s*\{)/m,
    Turing:
      /^[ \t]*(?:%|(?:var|const)\s+\w+.*:|procedure\s+\w|function\s+\w+\s*(?:\(.*\))?\s*:\s*\w|put\s|setscreen\b|View\.)/m,
    Terra: /^[ \t]*(?:terra\s|local\s+\w|function\s+\w|--\[\[)|\bterralib\b/m,
  },
  '.tact': { JSON: JSON_START },
  '.tl': {
    'Type Language':
      /#[0-9a-f]{6,8}\s.*=\s*\w+.*;|^---(?:functions|types)---|^\w[^=\n]{0,200}\s\?\s*=\s*\w+;/m,
  },
  '.toc': { 'World of Warcraft Addon Data': /^## \w+:/m },
  '.tpl': { 'Go Template': /\{\{-?\s*(?:\.|if|range|define|template|include|with|\/\*)/ },
  '.ts': { XML: /^\s*<(?:!DOCTYPE TS|TS\s)/ },
  '.tsp': { 'TSPLIB data': /^(?:NAME|TYPE|DIMENSION|EDGE_WEIGHT_TYPE)\s*:/m },
  '.tst': { GAP: /^gap> |^#@/m },
  '.txt': { 'Adblock Filter List': /^\[(?:Adblock|uBlock|AdGuard)\b/i },
  '.uc': { ucode: /^[ \t]*(?:import\s*\{|export\s|'use strict'|let\s+\w)|^#!.*ucode/m },
  '.v': {
    'Rocq Prover':
      /^[ \t]*(?:Require|From\s+\w+|Theorem|Lemma|Proof|Definition|Inductive|Section)\b.*\.?\s*$/m,
    V: /^[ \t]*(?:pub\s+)?fn\s+(?:\(.*\)\s*)?\w+\s*\(/m,
  },
  '.vba': { 'Vim script': /^UseVimball/m },
  '.vcf': { TSV: /^##fileformat=VCF/ },
  '.vhost': { ApacheConf: /^[ \t]*<VirtualHost\b/m },
  '.w': { 'OpenEdge ABL': /^&(?:ANALYZE-SUSPEND|Scoped-define)\b/im },
  '.x': {
    'DirectX 3D File': /^xof \d{4}/,
    Logos: /^[ \t]*%(?:hook|end|group|ctor|orig|new|init|subclass)\b|^#import\b/m,
    'Linker Script': /^[ \t]*(?:SECTIONS|OUTPUT_FORMAT|ENTRY)\b/m,
  },
  '.yaml': MINI_YAML,
  '.yml': MINI_YAML,
  '.yy': { JSON: JSON_START },
};

/**
 * The language detected by content; undefined if no rule matches, '' if it has no language.
 * @param extension  with the dot, in lower case
 * @param candidates  languages that claim the extension
 * @param head  the first bytes of the content, a character for each
 */
export function languageByContent(
  extension: string,
  candidates: readonly string[],
  head: string,
): string | undefined {
  if (candidates.includes('XML') && XML.test(head)) return 'XML';
  const rules = Object.entries(RULES[extension] ?? {});
  return rules.find(([, sign]) => sign.test(head))?.[0];
}
