// Configuration snippets for agents and editors that use the tool server: the file, and its content. None contains the
// key: it comes from the environment or a prompt. daemon/api/mcp/README.md documents the same.

/** The environment variable that contains the key. */
export const KEY_VARIABLE = 'TRAWL_API_KEY';

export interface Agent {
  readonly name: string;
  /** Path in the project or in the user's home folder. */
  readonly file: string;
  readonly text: string;
}

function bearer(key: string) {
  return { Authorization: `Bearer ${key}` };
}

function jsonOf(servers: string, trawl: object, others: object = {}): string {
  return JSON.stringify({ [servers]: { trawl }, ...others }, undefined, 2);
}

const VSCODE_INPUT = { type: 'promptString', id: 'trawl-key', password: true };

/** @param url  address of the tool server */
export function agentsOf(url: string): readonly Agent[] {
  const fromEnvironment = bearer(`\${${KEY_VARIABLE}}`);
  const fromEnv = bearer(`\${env:${KEY_VARIABLE}}`);
  const header = bearer(`\${input:${VSCODE_INPUT.id}}`);
  return [
    {
      name: 'Claude Code',
      file: '.mcp.json',
      text: jsonOf('mcpServers', { type: 'http', url, headers: fromEnvironment }),
    },
    {
      name: 'VS Code',
      file: '.vscode/mcp.json',
      text: jsonOf(
        'servers',
        { type: 'http', url, headers: header },
        { inputs: [{ ...VSCODE_INPUT, description: 'API key of Trawl' }] },
      ),
    },
    {
      name: 'Cursor',
      file: '.cursor/mcp.json',
      text: jsonOf('mcpServers', { url, headers: fromEnv }),
    },
    {
      name: 'Codex',
      file: '~/.codex/config.toml',
      text: `[mcp_servers.trawl]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = "${KEY_VARIABLE}"`,
    },
    {
      name: 'Gemini CLI',
      file: '~/.gemini/settings.json',
      text: jsonOf('mcpServers', { httpUrl: url, headers: fromEnvironment }),
    },
    {
      name: 'Windsurf',
      file: '~/.codeium/windsurf/mcp_config.json',
      text: jsonOf('mcpServers', { serverUrl: url, headers: fromEnv }),
    },
  ];
}

/** For an agent that searches its working folder without a daemon. */
export const LOCAL_AGENT = JSON.stringify({
  mcpServers: { trawl: { command: 'trawl', args: ['mcp'] } },
});
