// The error of a configuration that the daemon cannot start with. main prints the message and exits with
// code 2.

/** Exit code of the process for errors of configuration. */
export const CONFIG_EXIT_CODE = 2;

/** A value of the configuration is refused; the message names variable, value and what is allowed. */
export class ConfigError extends Error {
  /** Variable or flag. */
  readonly variable: string;
  /** What is allowed, or what to set instead. */
  readonly allowed: string;
  readonly exitCode: number = CONFIG_EXIT_CODE;

  /** @param value  as given; for secrets a text that does not hold it */
  constructor(variable: string, value: string, allowed: string) {
    super(`${variable}: ${value}; ${allowed}`);
    this.name = 'ConfigError';
    this.variable = variable;
    this.allowed = allowed;
  }
}

/** A configuration file is refused, as a whole. The message has a line for each mistake. */
export class RefusedFileError extends ConfigError {
  /** In the order of the file, each with file, line, key and what is allowed; at least one. */
  readonly mistakes: readonly string[];

  constructor(file: string, mistakes: readonly string[]) {
    super(file, 'refused', 'correct what the message names');
    this.name = 'RefusedFileError';
    this.mistakes = mistakes;
    this.message = mistakes.join('\n');
  }
}
