// Settings of the user, and for owners those of the instance. Each section has its own address.

import type { ComponentType } from 'react';
import { Link, useParams } from 'wouter';
import { signInAddress } from '../data/base-path.ts';
import { useAccount } from '../data/session.ts';
import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';
import { ApiKeys } from './api-keys.tsx';
import { Audit } from './audit.tsx';
import { Connections } from './connections.tsx';
import { General } from './general.tsx';
import { Health } from './health.tsx';
import { Licence } from './licence.tsx';
import { Members } from './members.tsx';
import { type SectionId, SECTIONS } from './sections.ts';
import { Security } from './security.tsx';
import { Tokens } from './tokens.tsx';
import { ToolServer } from './tool-server.tsx';
import { Usage } from './usage.tsx';
import '../styles/tables.css';
import '../styles/jobs.css';

const BODIES: Readonly<Record<SectionId, ComponentType>> = {
  general: General,
  apiKeys: ApiKeys,
  tokens: Tokens,
  mcp: ToolServer,
  usage: Usage,
  security: Security,
  members: Members,
  connections: Connections,
  license: Licence,
  audit: Audit,
  health: Health,
};

type Section = (typeof SECTIONS)[number];

function SectionBody({ section }: { readonly section: Section }) {
  const { data: account, error } = useAccount();
  if (account === undefined)
    return error === null ? null : <Notice kind="danger" title={error.message} />;
  if (account.user === null && section.id !== 'general')
    return (
      <Notice kind="info" title="Sign in to see this page.">
        <Link href={signInAddress()}>Sign in</Link>
      </Notice>
    );
  if ('isForOwners' in section && account.user?.role !== 'OWNER')
    return <Notice kind="info" title="Only owners can see this page." />;
  if ('entitlement' in section && !account.entitlements.includes(section.entitlement))
    return (
      <Notice kind="info" title={`This page needs a licence that includes ${section.entitlement}.`}>
        <Link href="/settings/license">Licence</Link>
      </Notice>
    );
  const Body = BODIES[section.id];
  return <Body />;
}

export default function SettingsPage() {
  const { section: id = 'general' } = useParams<{ section?: string }>();
  const section = SECTIONS.find((one) => one.id === id);
  useTitle(section === undefined ? 'Settings' : `${section.title} · Settings`);
  return (
    <div className="settings">
      <nav className="settings-list" aria-label="Settings">
        {SECTIONS.map((one) => (
          <Link
            key={one.id}
            href={`/settings/${one.id}`}
            aria-current={one === section ? 'page' : undefined}
          >
            {one.title}
          </Link>
        ))}
      </nav>
      <div className="settings-body">
        {section === undefined ? (
          <>
            <h1 className="visually-hidden">Unknown page</h1>
            <Notice kind="info" title="These settings do not exist." />
          </>
        ) : (
          <>
            <h1>{section.title}</h1>
            <SectionBody section={section} />
          </>
        )}
      </div>
    </div>
  );
}
