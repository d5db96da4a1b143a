// Scripts that complete `trawl` in bash, zsh and fish, made from the definitions of the commands. Pure. They complete commands,
// options, and values that an option lists; anything else is a file name, as a shell completes it.

import type { Option } from 'commander';
import { allOf, type CommandShape, namesOf, takesValue } from './command-shape.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionFor(shell: Shell, program: CommandShape): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program);
}

const nameOf = ({ path }: CommandShape): string => path.split(' ').at(-1) ?? '';
const commandOf = ({ path }: CommandShape): string => `trawl ${path}`.trim();
const textOf = ({ description }: Option): string => description.split(/[;(:]/, 1)[0]!.trim();
/** In single quotes, for any of the shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const choicesOf = ({ argChoices = [] }: Option): readonly string[] => argChoices;

function bashScript(program: CommandShape): string {
  const all = allOf(program);
  const deeper = all.filter(({ path }) => path !== '').map((one) => quoted(commandOf(one)));
  const words = all.map((one) => {
    const options = one.options.flatMap(namesOf).join(' ');
    const commands = one.commands.map(nameOf).join(' ');
    return `    ${quoted(commandOf(one))}) options=${quoted(options)} commands=${quoted(commands)} ;;`;
  });
  const values = all.flatMap((one) =>
    one.options.filter(takesValue).map((option) => {
      const names = namesOf(option).map((name) => quoted(`${commandOf(one)} ${name}`));
      return `    ${names.join('|')}) options=${quoted(choicesOf(option).join(' '))} isValue=1 ;;`;
    }),
  );
  return `# bash completion for trawl. Made by: trawl completion bash
_trawl() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local command=trawl options= commands= isValue= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command \${COMP_WORDS[i]}" in
    ${deeper.join('|')}) command="$command \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command" in
${words.join('\n')}
  esac
  case "$command $before" in
${values.join('\n')}
  esac
  if [[ -n $isValue || $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -F _trawl trawl
`;
}

function zshScript(program: CommandShape): string {
  const functions = allOf(program).toReversed().map(zshFunction);
  return `#compdef trawl
# zsh completion for trawl. Made by: trawl completion zsh
${functions.join('\n')}
if [[ \${funcstack[1]} == _trawl ]]; then
  _trawl "$@"
else
  compdef _trawl trawl
fi
`;
}

function zshName(shape: CommandShape): string {
  return `_${commandOf(shape).replaceAll(' ', '_')}`;
}

function zshFunction(shape: CommandShape): string {
  const options = shape.options.flatMap(zshOptions);
  if (shape.commands.length === 0)
    return `${zshName(shape)}() {\n  _arguments -s -S : ${[...options, "'*:argument:_files'"].join(' \\\n    ')}\n}`;
  const described = shape.commands.map((one) =>
    quoted(`${nameOf(one)}:${one.summary.replaceAll(':', String.raw`\:`)}`),
  );
  const cases = shape.commands.map((one) => `      ${nameOf(one)}) ${zshName(one)} ;;`);
  return `${zshName(shape)}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C : ${[...options, "'1:command:->command'", "'*::argument:->argument'"].join(' \\\n    ')}
  case $state in
  command)
    local -a commands
    commands=(${described.join(' ')})
    _describe -t commands command commands
    ;;
  argument)
    case $line[1] in
${cases.join('\n')}
    esac
    ;;
  esac
}`;
}

function zshOptions(option: Option): string[] {
  const text = textOf(option).replaceAll(/[[\]\\:]/g, String.raw`\$&`);
  const choices = choicesOf(option).join(' ');
  const action = choices === '' ? '_files' : `(${choices})`;
  return namesOf(option).map((name) => {
    const value = takesValue(option) ? `:${option.name()}:${action}` : '';
    const sign = takesValue(option) && name.startsWith('--') ? '=' : '';
    return quoted(`*${name}${sign}[${text}]${value}`);
  });
}

function fishScript(program: CommandShape): string {
  const lines = allOf(program).flatMap((shape) => [
    ...shape.commands.map(
      (one) =>
        `complete -c trawl -n ${quoted(fishCondition(shape, true))} -f -a ${nameOf(one)} -d ${quoted(one.summary)}`,
    ),
    ...shape.options.map((option) => fishOption(option, fishCondition(shape, false))),
  ]);
  return `# fish completion for trawl. Made by: trawl completion fish\n${lines.join('\n')}\n`;
}

/** Whether the words so far are this command; with `isOpen`, and none of its own commands. */
function fishCondition({ path, commands }: CommandShape, isOpen: boolean): string {
  const seen = path.split(' ').filter(Boolean);
  const tests = seen.map((word) => `__fish_seen_subcommand_from ${word}`);
  const names = commands.map(nameOf).join(' ');
  if (isOpen || path === '') tests.push(`not __fish_seen_subcommand_from ${names}`);
  return tests.join('; and ');
}

function fishOption(option: Option, condition: string): string {
  const { short, long } = option;
  const names = [
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
  ];
  const choices = choicesOf(option).join(' ');
  const values = choices === '' ? ' -r' : ` -x -a ${quoted(choices)}`;
  const value = takesValue(option) ? values : '';
  return `complete -c trawl -n ${quoted(condition)} ${names.join(' ')}${value} -d ${quoted(textOf(option))}`;
}
