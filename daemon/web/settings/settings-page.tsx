// Settings: one's own, and for owners those of the instance; each section is a page of its own address.

import type { ComponentType } from 'react';
import { Link, useParams } from 'wouter';
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
import { Security } from './security.tsx';
import { Tokens } from './tokens.tsx';
import { Usage } from './usage.tsx';
import '../styles/tables.css';
import '../styles/jobs.css';

interface Section {
  /** As in the address (API.md 23.1). */
  readonly id: string;
  readonly title: string;
  readonly Body: ComponentType;
  readonly isForOwners?: boolean;
}

const SECTIONS: readonly Section[] = [
  { id: 'general', title: 'General', Body: General },
  { id: 'apiKeys', title: 'API keys', Body: ApiKeys },
  { id: 'tokens', title: 'Scoped tokens', Body: Tokens },
  { id: 'usage', title: 'Usage', Body: Usage },
  { id: 'security', title: 'Security', Body: Security, isForOwners: true },
  { id: 'members', title: 'Members', Body: Members, isForOwners: true },
  { id: 'connections', title: 'Connections', Body: Connections, isForOwners: true },
  { id: 'license', title: 'Licence', Body: Licence, isForOwners: true },
  { id: 'audit', title: 'Audit log', Body: Audit, isForOwners: true },
  { id: 'health', title: 'Health', Body: Health, isForOwners: true },
];

function SectionBody({ section }: { readonly section: Section }) {
  const { data: account, error, isPending } = useAccount();
  if (isPending) return null;
  if (error !== null) return <Notice kind="danger" title={error.message} />;
  if (account.user === null && section.id !== 'general')
    return (
      <Notice kind="info" title="This needs an account.">
        <Link href={`/login?return=/settings/${section.id}`}>Sign in</Link>
      </Notice>
    );
  if (section.isForOwners === true && account.user?.role !== 'OWNER')
    return <Notice kind="info" title="Only owners can do this." />;
  return <section.Body />;
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
          <Notice kind="info" title="There are no such settings." />
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
