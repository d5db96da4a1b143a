// The tree-sitter query for the definitions of each grammar. In a pattern, the capture on the whole definition is its kind
// (kinds.ts) and `@name` its name. Further captures:
//
//   @declarator  in place of @name: the name is found by descending the declarators of C
//   @parent      names the parent, where it is not the enclosing definition
//   @scope       on the whole: a parent by its @name, but not a definition (an implementation)
//   @local       on the whole: variables in it are local, and not symbols
//   @body        the whole extends to its end
//   @rest        anywhere: the rest of the file is in it
//
// If several patterns give the same name, the first counts. tree-symbols.ts finds parents, locals, and context-dependent
// kinds; functions make their variables local without a capture.

const C_COMMON = `
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(enumerator name: (identifier) @name) @enumMember
(type_definition declarator: (_) @declarator) @type
(function_definition declarator: (_) @declarator body: (_)) @function
(field_declaration declarator: (_) @declarator) @field
(declaration declarator: (_) @declarator) @variable
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
`;

const CPP = `
${C_COMMON}
(class_specifier name: (type_identifier) @name body: (_)) @class
(class_specifier name: [(template_type) (qualified_identifier)] @declarator body: (_)) @class
(struct_specifier name: [(template_type) (qualified_identifier)] @declarator body: (_)) @struct
(union_specifier name: [(template_type) (qualified_identifier)] @declarator body: (_)) @union
(namespace_definition name: (namespace_identifier) @name) @namespace
(namespace_definition
  name: (nested_namespace_specifier (namespace_identifier) @name)) @namespace
(namespace_definition
  name: (nested_namespace_specifier
    (nested_namespace_specifier (namespace_identifier) @name))) @namespace
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(lambda_expression) @local
`;

const FUNCTION_VALUES = '[(arrow_function) (function_expression) (generator_function)]';
const UNNAMED_FUNCTIONS =
  '[(arrow_function) (function_expression !name) (generator_function !name)]';
const NAMED_FUNCTIONS =
  '[(function_expression name: (identifier) @name) (generator_function name: (identifier) @name)]';

/** A name in a class, an object or a type: a word, or a string without escapes. */
const PROPERTY = '[(property_identifier) @name (string . (string_fragment) @name .)]';
const MEMBER = `[
  (property_identifier) @name
  (private_property_identifier) @name
  (string . (string_fragment) @name .)
]`;

/** The names bound by a pattern of an exported declaration, two levels deep. */
const OBJECT_NAMES = `(object_pattern [
  (shorthand_property_identifier_pattern) @name
  (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)
  (pair_pattern value: [(identifier) @name (assignment_pattern left: (identifier) @name)])
  (rest_pattern (identifier) @name)
])`;
const ARRAY_NAMES = `(array_pattern [
  (identifier) @name
  (assignment_pattern left: (identifier) @name)
  (rest_pattern (identifier) @name)
])`;
const PATTERN = `[
  ${OBJECT_NAMES}
  ${ARRAY_NAMES}
  (object_pattern (pair_pattern value: [${OBJECT_NAMES} ${ARRAY_NAMES}]))
  (array_pattern [${OBJECT_NAMES} ${ARRAY_NAMES}])
]`;

// Why listed separately: a block of a namespace is also a block, but its content is not local.
const LOCAL_BLOCKS = `
(program (statement_block) @local)
(statement_block (statement_block) @local)
(if_statement consequence: (statement_block) @local)
(else_clause (statement_block) @local)
(while_statement body: (statement_block) @local)
(do_statement body: (statement_block) @local)
(try_statement body: (statement_block) @local)
(catch_clause body: (statement_block) @local)
(finally_clause body: (statement_block) @local)
(labeled_statement body: (statement_block) @local)
(method_definition body: (statement_block) @local)
(class_static_block body: (statement_block) @local)
(switch_body) @local
(function_expression) @local
(generator_function) @local
(arrow_function) @local
(for_statement) @local
(for_in_statement) @local
`;

/** Functions or classes with names of their own, used as values; not where the target has the same name. */
const namedValues = (named: string, kind: string): string => `
([
  (variable_declarator name: (identifier) @target value: ${named} @${kind})
  (assignment_expression left: (identifier) @target right: ${named} @${kind})
  (assignment_expression
    left: (member_expression property: (property_identifier) @target) right: ${named} @${kind})
  (pair key: (property_identifier) @target value: ${named} @${kind})
] (#not-eq? @target @name))
(return_statement ${named} @${kind})
(export_statement ${named} @${kind})
(arguments ${named} @${kind})
(parenthesized_expression ${named} @${kind})
(arrow_function body: ${named} @${kind})
`;

const JAVASCRIPT_COMMON = `
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition ["get" "set"] name: ${MEMBER}) @property
(method_definition name: ${MEMBER}) @method
(variable_declarator name: (identifier) @name value: ${FUNCTION_VALUES}) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)
(variable_declarator name: (identifier) @name) @variable
(export_statement
  (lexical_declaration kind: "const" (variable_declarator name: ${PATTERN}) @constant))
(export_statement (_ (variable_declarator name: ${PATTERN}) @variable))
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: ${UNNAMED_FUNCTIONS}) @function
((assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: ${FUNCTION_VALUES}) @function
  (#not-eq? @name "exports"))
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: (class !name)) @class
((assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: (class)) @class
  (#not-eq? @name "exports"))
${namedValues(NAMED_FUNCTIONS, 'function')}
(pair key: ${PROPERTY} value: ${FUNCTION_VALUES}) @method
${LOCAL_BLOCKS}
`;

const JAVASCRIPT = `
(class_declaration name: (identifier) @name) @class
${namedValues('(class name: (identifier) @name)', 'class')}
(field_definition property: ${MEMBER}) @field
${JAVASCRIPT_COMMON}
`;

const TYPESCRIPT = `
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
${namedValues('(class name: (type_identifier) @name)', 'class')}
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
(enum_body name: (property_identifier) @name @enumMember)
(enum_body name: (string . (string_fragment) @name .) @enumMember)
(enum_assignment name: ${PROPERTY}) @enumMember
(internal_module name: (identifier) @name) @namespace
(internal_module name: (nested_identifier object: (identifier) @name)) @namespace
(internal_module name: (nested_identifier property: (property_identifier) @name)) @namespace
(internal_module name: (nested_identifier
  object: (member_expression object: (identifier) @name))) @namespace
(internal_module name: (nested_identifier
  object: (member_expression property: (property_identifier) @name))) @namespace
(module name: [(identifier) @name (string . (string_fragment) @name .)]) @namespace
(public_field_definition name: ${MEMBER}) @property
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @property
(required_parameter "readonly" pattern: (identifier) @name) @property
(optional_parameter (accessibility_modifier) pattern: (identifier) @name) @property
(optional_parameter "readonly" pattern: (identifier) @name) @property
(interface_body (property_signature name: ${PROPERTY}) @property)
(interface_body (method_signature name: ${PROPERTY}) @method)
(type_alias_declaration value: (object_type (property_signature name: ${PROPERTY}) @property))
(type_alias_declaration value: (object_type (method_signature name: ${PROPERTY}) @method))
(class_body (method_signature name: ${MEMBER}) @method)
(abstract_method_signature name: ${PROPERTY}) @method
(function_signature name: (identifier) @name) @function
${JAVASCRIPT_COMMON}
`;

const QUERIES: Readonly<Record<string, string>> = {
  c: C_COMMON,
  cpp: CPP,
  java: `
(package_declaration [(scoped_identifier) (identifier)] @name) @package
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @enumMember
(method_declaration name: (identifier) @name) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @constructor
(compact_constructor_declaration name: (identifier) @name) @constructor
(record_declaration (formal_parameters (formal_parameter name: (identifier) @name) @field))
(record_declaration (formal_parameters (spread_parameter (variable_declarator name: (identifier) @name)) @field))
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @field
`,
  javascript: JAVASCRIPT,
  typescript: TYPESCRIPT,
  tsx: TYPESCRIPT,
  python: `
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(assignment left: (identifier) @name right: (lambda)) @function
(assignment left: (identifier) @name) @variable
(assignment left: [
  (pattern_list (identifier) @name)
  (tuple_pattern (identifier) @name)
  (list_pattern (identifier) @name)
]) @variable
(type_alias_statement left: (type [
  (identifier) @name
  (generic_type . (identifier) @name)
])) @type
`,
  go: `
(package_clause (package_identifier) @name) @package @rest
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (pointer_type (type_identifier) @parent)
    (generic_type type: (type_identifier) @parent)
    (pointer_type (generic_type type: (type_identifier) @parent))
  ]))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(const_spec name: (identifier) @name) @constant
(var_spec name: (identifier) @name) @variable
(field_declaration name: (field_identifier) @name) @field
(field_declaration !name type: (type_identifier) @name) @field
(field_declaration !name type: (qualified_type name: (type_identifier) @name)) @field
(field_declaration !name type: (generic_type type: (type_identifier) @name)) @field
(method_elem name: (field_identifier) @name) @method
(func_literal) @local
(block) @local
`,
  rust: `
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(mod_item name: (identifier) @name) @module
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
(macro_definition name: (identifier) @name) @macro
(enum_variant name: (identifier) @name) @enumMember
(field_declaration name: (field_identifier) @name) @field
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @scope
(closure_expression) @local
`,
  ruby: `
(class name: (constant) @name) @class
(class name: (scope_resolution name: (constant) @name)) @class
(module name: (constant) @name) @module
(module name: (scope_resolution name: (constant) @name)) @module
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(assignment left: (constant) @name) @constant
(assignment left: (left_assignment_list (constant) @name)) @constant
(alias name: (_) @name) @method
((call method: (identifier) @call arguments: (argument_list [
  (simple_symbol) @name
  (delimited_symbol . (string_content) @name .)
  (string . (string_content) @name .)
])) @property
  (#any-of? @call "attr" "attr_accessor" "attr_reader" "attr_writer"))
((call method: (identifier) @call arguments: (argument_list . [
  (simple_symbol) @name
  (string . (string_content) @name .)
])) @method
  (#any-of? @call "alias_method" "define_method" "define_singleton_method"))
`,
  php: `
(namespace_definition name: (namespace_name) @name !body) @namespace @rest
(namespace_definition name: (namespace_name) @name) @namespace
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @enumMember
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(const_declaration (const_element (name) @name)) @constant
(property_declaration (property_element (variable_name (name) @name))) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
((function_call_expression
  function: [(name) (qualified_name)] @call
  arguments: (arguments . (argument [
    (string (string_content) @name)
    (encapsed_string . (string_content) @name .)
  ]))) @constant
  (#any-of? @call "define" "\\\\define"))
(program (expression_statement
  (assignment_expression left: (variable_name (name) @name)) @variable))
`,
  c_sharp: `
(namespace_declaration name: [(identifier) (qualified_name)] @name) @namespace
(file_scoped_namespace_declaration
  name: [(identifier) (qualified_name)] @name) @namespace @rest
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @enumMember
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @constructor
(destructor_declaration name: (identifier) @name) @method
(record_declaration (parameter_list (parameter name: (identifier) @name) @property))
(property_declaration name: (identifier) @name) @property
(event_declaration name: (identifier) @name) @property
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @property
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(local_function_statement name: (identifier) @name) @function
`,
  kotlin: `
(package_header (identifier) @name) @package @rest
(class_declaration "interface" (type_identifier) @name) @interface
(class_declaration "enum" (type_identifier) @name) @enum
(class_declaration (type_identifier) @name) @class
(object_declaration (type_identifier) @name) @object
(companion_object (type_identifier) @name) @object
(type_alias (type_identifier) @name) @type
(function_declaration (simple_identifier) @name) @function
(enum_entry (simple_identifier) @name) @enumMember
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @property
(property_declaration
  (binding_pattern_kind "val")
  (variable_declaration (simple_identifier) @name)) @constant
(property_declaration (variable_declaration (simple_identifier) @name)) @variable
(property_declaration (multi_variable_declaration
  (variable_declaration (simple_identifier) @name))) @constant
[(lambda_literal) (anonymous_initializer) (secondary_constructor) (getter) (setter)] @local
`,
  scala: `
(package_clause name: (package_identifier) @name !body) @package @rest
(package_clause name: (package_identifier) @name) @package
(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @object
(package_object name: (identifier) @name) @object
(trait_definition name: (identifier) @name) @trait
(enum_definition name: (identifier) @name) @enum
(simple_enum_case name: (identifier) @name) @enumMember
(full_enum_case name: (identifier) @name) @enumMember
(function_definition name: (identifier) @name) @function
(function_declaration name: (identifier) @name) @function
(type_definition name: (type_identifier) @name) @type
(given_definition name: (identifier) @name) @variable
(val_definition pattern: (identifier) @name) @constant
(val_declaration name: (identifier) @name) @constant
(var_definition pattern: (identifier) @name) @variable
(var_declaration name: (identifier) @name) @variable
(class_parameter ["val" "var"] name: (identifier) @name) @field
(block) @local
(lambda_expression) @local
`,
  swift: `
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @enum
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name)) @scope
(class_declaration name: (type_identifier) @name) @class
(protocol_declaration name: (type_identifier) @name) @interface
(function_declaration name: (simple_identifier) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration name: "init" @name) @constructor
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @variable
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @property
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(enum_entry name: (simple_identifier) @name) @enumMember
(lambda_literal) @local
(computed_property) @local
`,
  bash: `
(function_definition name: (word) @name) @function
`,
  lua: `
(function_declaration
  name: [(identifier) (dot_index_expression) (method_index_expression)] @name) @function
(assignment_statement
  (variable_list name: [(identifier) (dot_index_expression)] @name)
  (expression_list value: (function_definition))) @function
(assignment_statement
  (variable_list name: (bracket_index_expression field: (string content: (string_content) @name)))
  (expression_list value: (function_definition))) @function
(field name: [(identifier) @name (string content: (string_content) @name)]
  value: (function_definition)) @function
`,
  dart: `
(class_definition name: (identifier) @name) @class
(class_definition (mixin_application_class . (identifier) @name)) @class
(mixin_declaration (mixin) . (identifier) @name) @trait
(extension_declaration name: (identifier) @name) @class
(extension_type_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @enumMember
(type_alias (type_identifier) @name . (formal_parameter_list)) @type
(type_alias . (type_identifier) @name . "=") @type
(type_alias . (type_identifier) @name . (type_parameters) . "=") @type
((function_signature name: (identifier) @name) @function . (function_body) @body)
((method_signature (function_signature name: (identifier) @name)) @method . (function_body) @body)
((method_signature [
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
]) @property . (function_body) @body)
((method_signature (operator_signature (binary_operator) @name)) @method . (function_body) @body)
(lambda_expression
  parameters: (function_signature name: (identifier) @name)) @function
(function_signature name: (identifier) @name) @function
(getter_signature name: (identifier) @name) @property
(setter_signature name: (identifier) @name) @property
(constructor_signature name: (identifier) @name . (formal_parameter_list)) @constructor
(factory_constructor_signature (identifier) @name . (formal_parameter_list)) @constructor
(redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list)) @constructor
(constant_constructor_signature (identifier) @name . (formal_parameter_list)) @constructor
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name) @field))
(static_final_declaration . (identifier) @name) @constant
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @variable))
`,
  hcl: `
(config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name) .
  (block_start)) @variable (#eq? @_word "variable")))
(config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name) .
  (block_start)) @property (#eq? @_word "output")))
(config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name) .
  (block_start)) @module (#eq? @_word "module")))
(config_file (body (block . (identifier) @_word . (string_lit (template_literal) @name) .
  (block_start)) @other (#not-eq? @_word "check")))
(config_file (body (block (string_lit (template_literal) @parent) .
  (string_lit (template_literal) @name) . (block_start)) @object))
(config_file (body (block . (identifier) @_word (body (attribute . (identifier) @name) @constant))
  (#eq? @_word "locals")))
`,
  solidity: `
(contract_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(library_declaration name: (identifier) @name) @module
(struct_declaration name: (identifier) @name) @struct
(struct_member name: (identifier) @name) @field
(enum_declaration name: (identifier) @name) @enum
(enum_value) @name @enumMember
(event_definition name: (identifier) @name) @type
(error_declaration name: (identifier) @name) @type
(user_defined_type_definition name: (identifier) @name) @type
(modifier_definition name: (identifier) @name) @function
(function_definition name: (identifier) @name) @function
(constructor_definition "constructor" @name) @constructor
(fallback_receive_definition ["fallback" "receive"] @name) @method
(state_variable_declaration "constant" name: (identifier) @name) @constant
(state_variable_declaration name: (identifier) @name) @variable
(constant_variable_declaration name: (identifier) @name) @constant
`,
  zig: `
(variable_declaration (identifier) @name (struct_declaration) .) @struct
(variable_declaration (identifier) @name (opaque_declaration) .) @struct
(variable_declaration (identifier) @name (enum_declaration) .) @enum
(variable_declaration (identifier) @name (union_declaration) .) @union
(variable_declaration (identifier) @name (error_set_declaration) .) @enum
(variable_declaration (error_set_declaration (identifier) @name @enumMember))
(variable_declaration "const" . (identifier) @name (_) @_value .
  (#not-match? @_value "^@import")) @constant
(variable_declaration "var" . (identifier) @name) @variable
(function_declaration name: (identifier) @name) @function
(enum_declaration (container_field name: (identifier) @name) @enumMember
  (#not-eq? @name "_"))
(struct_declaration (container_field name: (identifier) @name) @field)
(union_declaration (container_field name: (identifier) @name) @field)
(source_file (container_field name: (identifier) @name) @field)
(function_declaration name: (identifier) @name type: (builtin_type) @_type
  body: (block (expression_statement (return_expression
    [(struct_declaration) (union_declaration) (enum_declaration) (opaque_declaration)] @scope)))
  (#eq? @_type "type"))
(block) @local
`,
};

export function queryOf(grammar: string): string | undefined {
  return QUERIES[grammar];
}
