// The sections of the settings in order. Their ids are part of the addresses (API.md 23.1).

interface SectionName {
  readonly id: string;
  readonly title: string;
  readonly isForOwners?: boolean;
  /** Licence feature that the section needs. */
  readonly entitlement?: string;
}

export const SECTIONS = [
  { id: 'general', title: 'General' },
  { id: 'apiKeys', title: 'API keys' },
  { id: 'tokens', title: 'Tokens and applications' },
  { id: 'mcp', title: 'Agents and editors' },
  { id: 'usage', title: 'Usage' },
  { id: 'security', title: 'Security', isForOwners: true },
  { id: 'members', title: 'Members', isForOwners: true, entitlement: 'org-management' },
  { id: 'connections', title: 'Connections', isForOwners: true },
  { id: 'license', title: 'Licence', isForOwners: true },
  { id: 'audit', title: 'Audit log', isForOwners: true, entitlement: 'audit' },
  { id: 'health', title: 'Health', isForOwners: true },
] as const satisfies readonly SectionName[];

export type SectionId = (typeof SECTIONS)[number]['id'];
