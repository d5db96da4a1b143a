// Maps syntax nodes to a dozen classes; styles/tokens.css defines a colour for each.

import { tagHighlighter, tags as t } from '@lezer/highlight';

/** The classes are `code-NAME`; the first rule that fits best applies. */
export const highlighter = tagHighlighter([
  { tag: [t.string, t.character, t.regexp, t.url, t.special(t.string)], class: 'code-string' },
  { tag: [t.comment, t.docComment], class: 'code-comment' },
  { tag: [t.typeName, t.className, t.namespace], class: 'code-type' },
  { tag: [t.bool, t.null, t.atom, t.escape], class: 'code-constant' },
  { tag: [t.operator, t.punctuation, t.bracket, t.separator], class: 'code-operator' },
  {
    tag: [t.keyword, t.controlKeyword, t.modifier, t.self, t.definitionKeyword],
    class: 'code-keyword',
  },
  { tag: [t.number, t.unit, t.color], class: 'code-number' },
  {
    tag: [t.function(t.variableName), t.function(t.propertyName), t.macroName],
    class: 'code-function',
  },
  {
    tag: [t.function(t.definition(t.variableName)), t.function(t.definition(t.propertyName))],
    class: 'code-function code-definition',
  },
  { tag: [t.propertyName, t.attributeName, t.labelName], class: 'code-property' },
  { tag: [t.tagName, t.heading], class: 'code-tag' },
  { tag: [t.meta, t.annotation, t.processingInstruction], class: 'code-meta' },
]);
