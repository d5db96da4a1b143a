// Errors of a configuration that the daemon cannot start with. main prints the message and exits with code 2.

export const CONFIG_EXIT_CODE = 2;

/** A refused configuration value; the message names variable, value and allowed values. */
export class ConfigError extends Error {
  /** Variable or flag. */
  readonly variable: string;
  readonly allowed: string;
  readonly exitCode: number = CONFIG_EXIT_CODE;

  /** @param value  as given; for secrets a text that does not contain it */
  constructor(variable: string, value: string, allowed: string) {
    super(`${variable}: ${value}; ${allowed}`);
    this.name = 'ConfigError';
    this.variable = variable;
    this.allowed = allowed;
  }
}

/** A refused configuration file. The message has a line for each mistake. */
export class RefusedFileError extends ConfigError {
  /** In file order, each with file, line, key and allowed values; at least one. */
  readonly diagnostics: readonly string[];

  constructor(file: string, diagnostics: readonly string[]) {
    super(file, 'refused', 'correct what the message names');
    this.name = 'RefusedFileError';
    this.diagnostics = diagnostics;
    this.message = diagnostics.join('\n');
  }
}
