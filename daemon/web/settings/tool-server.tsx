// How agents and editors search here: the address of the tool server, what lets them in, and what goes into their files.

import { useState } from 'react';
import { Link } from 'wouter';
import { BASE_PATH } from '../data/base-path.ts';
import { useAccount } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { KEY_VARIABLE, LOCAL_AGENT, agentsOf } from './agents.ts';

interface SnippetProps {
  /** What it is, for the word that confirms a copy. */
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

/** What the agent says who it is by. */
function Credential() {
  const { data: account } = useAccount();
  return (
    <section>
      <h2>Key</h2>
      <p>
        An <Link href="/settings/apiKeys">API key</Link> of yours, in the variable{' '}
        <code>{KEY_VARIABLE}</code> of the environment that the agent runs in. It sees what you see;
        each call of a tool is one of your requests of the day. A scoped token in its place sees the
        repositories that it was made for, for an hour.
      </p>
      {account?.entitlements.includes('oauth') === true && (
        <p>
          An agent that knows OAuth needs no key: leave out what names the variable, and it opens a
          page here, on which you let it in. Your{' '}
          <Link href="/settings/tokens">tokens and applications</Link> list it, and end it.
        </p>
      )}
      {account?.anonymousAccess === true && (
        <p>Guests may search here: without a key an agent sees what guests see.</p>
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
          Agents and editors that speak the Model Context Protocol search and read here, with tools
          that change nothing.
        </p>
        <h2>Address</h2>
        <Snippet what="Address" text={url} />
      </section>
      <Credential />
      <Choice url={url} />
      <section>
        <h2>Without this instance</h2>
        <p>
          <code>trawl mcp</code> searches the folder that an agent is started in, on its own
          machine:
        </p>
        <Snippet what="Configuration without an instance" text={LOCAL_AGENT} />
      </section>
    </>
  );
}
