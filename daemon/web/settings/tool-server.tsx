// How agents and editors connect: the address of the tool server, the key, and the configuration for each client.

import { useState } from 'react';
import { Link } from 'wouter';
import { BASE_PATH } from '../data/base-path.ts';
import { useAccount } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { KEY_VARIABLE, LOCAL_AGENT, agentsOf } from './agents.ts';

interface SnippetProps {
  /** Names the snippet in the confirmation of a copy. */
  readonly what: string;
  readonly text: string;
}

function Snippet({ what, text }: SnippetProps) {
  return (
    <div className="snippet">
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <button
        type="button"
        className="button"
        aria-label={`Copy: ${what}`}
        onClick={() => void copyText(text, what)}
      >
        Copy
      </button>
    </div>
  );
}

/** How the agent authenticates. */
function Credential() {
  const { data: account } = useAccount();
  return (
    <section>
      <h2>API key</h2>
      <p>
        Put one of your <Link href="/settings/apiKeys">API keys</Link> into the environment variable{' '}
        <code>{KEY_VARIABLE}</code> of the agent. The agent then sees what you see. Each tool call
        counts as one of your daily requests. A scoped token works, too: it is valid for an hour and
        sees only its repositories.
      </p>
      {account?.entitlements.includes('oauth') === true && (
        <p>
          An agent that supports OAuth needs no key. Remove the line that names the variable; the
          agent then opens a page here, on which you authorize it. You can revoke its access under{' '}
          <Link href="/settings/tokens">Tokens and applications</Link>.
        </p>
      )}
      {account?.anonymousAccess === true && (
        <p>Guests may search here. Without a key, an agent sees what guests see.</p>
      )}
    </section>
  );
}

function Choice({ url }: { readonly url: string }) {
  const agents = agentsOf(url);
  const [name, setName] = useState(agents[0]?.name);
  const chosen = agents.find((agent) => agent.name === name);
  return (
    <section>
      <h2>Agent or editor</h2>
      <div className="button-row" role="group" aria-label="Agent or editor">
        {agents.map((agent) => (
          <button
            key={agent.name}
            type="button"
            className="button"
            aria-pressed={agent === chosen}
            onClick={() => setName(agent.name)}
          >
            {agent.name}
          </button>
        ))}
      </div>
      {chosen !== undefined && (
        <>
          <p>
            In <code>{chosen.file}</code>:
          </p>
          <Snippet what={`Configuration of ${chosen.name}`} text={chosen.text} />
        </>
      )}
    </section>
  );
}

export function ToolServer() {
  const url = `${location.origin}${BASE_PATH}/api/mcp`;
  return (
    <>
      <section>
        <p>
          Agents and editors that support the Model Context Protocol can search and read code here.
          The tools are read-only.
        </p>
        <h2>Address</h2>
        <Snippet what="Address" text={url} />
      </section>
      <Credential />
      <Choice url={url} />
      <section>
        <h2>Without this instance</h2>
        <p>
          <code>trawl mcp</code> searches the agent&apos;s working folder, without a server:
        </p>
        <Snippet what="Configuration without an instance" text={LOCAL_AGENT} />
      </section>
    </>
  );
}
