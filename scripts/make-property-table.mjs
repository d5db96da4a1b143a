// Writes daemon/engine/regex/property-table.ts: which general category and which script each code point has, and what the
// properties are called. Taken from the JavaScript engine that runs this, so that the build says which Unicode it is and
// no later engine changes answers; the names, which an engine cannot list, are those of Unicode's aliases.
//
//   node scripts/make-property-table.mjs           writes the table
//   node scripts/make-property-table.mjs --check   fails if it would change

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const CODE_POINT_END = 0x110000;

/** Names with their aliases. Of categories those of several others are left out of the partition. */
const CATEGORIES = `
  Cased_Letter=LC Close_Punctuation=Pe Connector_Punctuation=Pc Control=Cc=cntrl Currency_Symbol=Sc
  Dash_Punctuation=Pd Decimal_Number=Nd=digit Enclosing_Mark=Me Final_Punctuation=Pf Format=Cf
  Initial_Punctuation=Pi Letter=L Letter_Number=Nl Line_Separator=Zl Lowercase_Letter=Ll Mark=M=Combining_Mark
  Math_Symbol=Sm Modifier_Letter=Lm Modifier_Symbol=Sk Nonspacing_Mark=Mn Number=N Open_Punctuation=Ps Other=C
  Other_Letter=Lo Other_Number=No Other_Punctuation=Po Other_Symbol=So Paragraph_Separator=Zp Private_Use=Co
  Punctuation=P=punct Separator=Z Space_Separator=Zs Spacing_Mark=Mc Surrogate=Cs Symbol=S Titlecase_Letter=Lt
  Unassigned=Cn Uppercase_Letter=Lu`;
const SCRIPTS = `
  Adlam=Adlm Ahom Anatolian_Hieroglyphs=Hluw Arabic=Arab Armenian=Armn Avestan=Avst Balinese=Bali Bamum=Bamu
  Bassa_Vah=Bass Batak=Batk Bengali=Beng Beria_Erfe=Berf Bhaiksuki=Bhks Bopomofo=Bopo Brahmi=Brah Braille=Brai
  Buginese=Bugi Buhid=Buhd Canadian_Aboriginal=Cans Carian=Cari Caucasian_Albanian=Aghb Chakma=Cakm Cham
  Cherokee=Cher Chorasmian=Chrs Common=Zyyy Coptic=Copt=Qaac Cuneiform=Xsux Cypriot=Cprt Cypro_Minoan=Cpmn
  Cyrillic=Cyrl Deseret=Dsrt Devanagari=Deva Dives_Akuru=Diak Dogra=Dogr Duployan=Dupl
  Egyptian_Hieroglyphs=Egyp Elbasan=Elba Elymaic=Elym Ethiopic=Ethi Garay=Gara Georgian=Geor Glagolitic=Glag
  Gothic=Goth Grantha=Gran Greek=Grek Gujarati=Gujr Gunjala_Gondi=Gong Gurmukhi=Guru Gurung_Khema=Gukh
  Han=Hani Hangul=Hang Hanifi_Rohingya=Rohg Hanunoo=Hano Hatran=Hatr Hebrew=Hebr Hiragana=Hira
  Imperial_Aramaic=Armi Inherited=Zinh=Qaai Inscriptional_Pahlavi=Phli Inscriptional_Parthian=Prti
  Javanese=Java Kaithi=Kthi Kannada=Knda Katakana=Kana Kawi Kayah_Li=Kali Kharoshthi=Khar
  Khitan_Small_Script=Kits Khmer=Khmr Khojki=Khoj Khudawadi=Sind Kirat_Rai=Krai Lao=Laoo Latin=Latn
  Lepcha=Lepc Limbu=Limb Linear_A=Lina Linear_B=Linb Lisu Lycian=Lyci Lydian=Lydi Mahajani=Mahj Makasar=Maka
  Malayalam=Mlym Mandaic=Mand Manichaean=Mani Marchen=Marc Masaram_Gondi=Gonm Medefaidrin=Medf
  Meetei_Mayek=Mtei Mende_Kikakui=Mend Meroitic_Cursive=Merc Meroitic_Hieroglyphs=Mero Miao=Plrd Modi
  Mongolian=Mong Mro=Mroo Multani=Mult Myanmar=Mymr Nabataean=Nbat Nag_Mundari=Nagm Nandinagari=Nand
  New_Tai_Lue=Talu Newa Nko=Nkoo Nushu=Nshu Nyiakeng_Puachue_Hmong=Hmnp Ogham=Ogam Ol_Chiki=Olck Ol_Onal=Onao
  Old_Hungarian=Hung Old_Italic=Ital Old_North_Arabian=Narb Old_Permic=Perm Old_Persian=Xpeo Old_Sogdian=Sogo
  Old_South_Arabian=Sarb Old_Turkic=Orkh Old_Uyghur=Ougr Oriya=Orya Osage=Osge Osmanya=Osma Pahawh_Hmong=Hmng
  Palmyrene=Palm Pau_Cin_Hau=Pauc Phags_Pa=Phag Phoenician=Phnx Psalter_Pahlavi=Phlp Rejang=Rjng Runic=Runr
  Samaritan=Samr Saurashtra=Saur Sharada=Shrd Shavian=Shaw Siddham=Sidd Sidetic=Sidt SignWriting=Sgnw
  Sinhala=Sinh Sogdian=Sogd Sora_Sompeng=Sora Soyombo=Soyo Sundanese=Sund Sunuwar=Sunu Syloti_Nagri=Sylo
  Syriac=Syrc Tagalog=Tglg Tagbanwa=Tagb Tai_Le=Tale Tai_Tham=Lana Tai_Viet=Tavt Tai_Yo=Tayo Takri=Takr
  Tamil=Taml Tangsa=Tnsa Tangut=Tang Telugu=Telu Thaana=Thaa Thai Tibetan=Tibt Tifinagh=Tfng Tirhuta=Tirh
  Todhri=Todr Tolong_Siki=Tols Toto Tulu_Tigalari=Tutg Ugaritic=Ugar Unknown=Zzzz Vai=Vaii Vithkuqi=Vith
  Wancho=Wcho Warang_Citi=Wara Yezidi=Yezi Yi=Yiii Zanabazar_Square=Zanb`;
const GROUPS = new Set([
  'Cased_Letter',
  'Letter',
  'Mark',
  'Number',
  'Other',
  'Punctuation',
  'Separator',
  'Symbol',
]);

function namesOf(text) {
  return text
    .trim()
    .split(/\s+/)
    .map((entry) => entry.split('='));
}

/** Index into `names` for each code point; neighbours mostly share one, so that is tried first. */
function partition(key, names) {
  const tests = names.map((aliases) =>
    aliases.map((one) => new RegExp(`^\\p{${key}=${one}}$`, 'u')),
  );
  let last = 0;
  return Array.from({ length: CODE_POINT_END }, (_, point) => {
    const text = String.fromCodePoint(point);
    if (tests[last][0].test(text)) return last;
    last = tests.findIndex(([test]) => test.test(text));
    if (last < 0) throw new Error(`no ${key} names U+${point.toString(16)}`);
    if (!tests[last].every((test) => test.test(text)))
      throw new Error(`aliases of ${names[last][0]}`);
    return last;
  });
}

/** Runs of equal values as text: size in base 36, lower case, then the index in base 26, two capital letters. */
function runsOf(indexes) {
  let text = '';
  for (let start = 0, end = 0; start < CODE_POINT_END; start = end) {
    while (end < CODE_POINT_END && indexes[end] === indexes[start]) end++;
    const letters = [Math.floor(indexes[start] / 26), indexes[start] % 26];
    text += (end - start).toString(36) + String.fromCharCode(...letters.map((one) => 65 + one));
  }
  return text;
}

function lines(text, isBroken) {
  const size = 110;
  const parts = isBroken
    ? text.match(new RegExp(`.{1,${size}}`, 'g'))
    : text.match(new RegExp(`.{1,${size}}(?: |$)`, 'g'));
  return parts.map((part) => `  '${part}'`).join(' +\n');
}

const categories = namesOf(CATEGORIES).filter(([name]) => !GROUPS.has(name));
const scripts = namesOf(SCRIPTS);
const join = (names) => names.map((one) => one.join('=')).join(' ');
const output = `// Generated by scripts/make-property-table.mjs from Unicode ${process.versions.unicode}. Do not edit.
// General categories and scripts: names with their aliases (\`=\` between them), and runs of code points from 0 on, each
// its size in base 36, lower case, and the index of its name in base 26, two capital letters.

/** The version of Unicode; that of core/shared/fold-table.ts too. */
export const UNICODE_VERSION = '${process.versions.unicode}';

// prettier-ignore
export const CATEGORY_NAMES =
${lines(join(categories))};
// prettier-ignore
export const CATEGORY_RUNS =
${lines(runsOf(partition('gc', categories)), true)};
// prettier-ignore
export const SCRIPT_NAMES =
${lines(join(scripts))};
// prettier-ignore
export const SCRIPT_RUNS =
${lines(runsOf(partition('sc', scripts)), true)};
`;
const target = path.join(root, 'daemon/engine/regex/property-table.ts');
if (!process.argv.includes('--check')) writeFileSync(target, output);
else if (readFileSync(target, 'utf8') !== output)
  throw new Error('daemon/engine/regex/property-table.ts is stale');
