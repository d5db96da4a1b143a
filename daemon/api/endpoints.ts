// All endpoints of the daemon, in the order of the API description.

import * as account from './accounts/account-endpoints.ts';
import { listAuditRecords } from './accounts/audit-endpoints.ts';
import * as consents from './accounts/consent-endpoints.ts';
import { getBlame } from './history/blame-endpoints.ts';
import { getAuthors, getCommit, getCommits } from './history/commit-endpoints.ts';
import * as connections from './jobs/connection-endpoints.ts';
import { DESCRIPTION_ENDPOINTS } from './instance/description-endpoints.ts';
import { getDiff } from './history/diff-endpoints.ts';
import type { Endpoint } from './shapes/endpoint.ts';
import * as grants from './accounts/grant-endpoints.ts';
import * as instance from './instance/instance-endpoints.ts';
import * as members from './accounts/member-endpoints.ts';
import * as jobs from './jobs/job-endpoints.ts';
import { findDefinitions, findReferences } from './search/navigation-endpoints.ts';
import { getRaw } from './sources/raw-endpoints.ts';
import { getRefs } from './sources/ref-endpoints.ts';
import { listRepos } from './sources/repo-endpoints.ts';
import { createScopedAccessToken, revokeScopedAccessToken } from './accounts/token-endpoints.ts';
import * as repoRules from './sources/repo-rule-endpoints.ts';
import * as searches from './search/search-endpoints.ts';
import { listSkippedFiles } from './sources/skipped-endpoints.ts';
import { getSuggestions } from './search/suggestion-endpoints.ts';
import { beginSignOn, finishSignOn } from './accounts/sign-on-endpoints.ts';
import { getSource } from './sources/source-endpoints.ts';
import * as status from './instance/status-endpoints.ts';
import * as system from './instance/system-endpoints.ts';
import { getFiles, getFolderContents, getTree } from './sources/tree-endpoints.ts';
import { receiveWebhook } from './jobs/webhook-endpoint.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  searches.search,
  searches.streamSearch,
  findDefinitions,
  findReferences,
  getSuggestions,
  getSource,
  getRaw,
  getBlame,
  getDiff,
  getCommit,
  getCommits,
  getAuthors,
  getFiles,
  getTree,
  getFolderContents,
  getRefs,
  listRepos,
  connections.listConnections,
  connections.getConnectionSyncStatus,
  connections.getConnectionSyncCounts,
  connections.triggerConnectionSync,
  receiveWebhook,
  listSkippedFiles,
  jobs.getRepoIndexStatus,
  jobs.getRepoSyncCounts,
  jobs.listJobs,
  jobs.getJobLogs,
  jobs.triggerRepoIndex,
  members.getUser,
  members.listUsers,
  members.deleteUser,
  members.createUser,
  members.updateUser,
  members.setUserPassword,
  members.unlinkUser,
  repoRules.listRepoRules,
  repoRules.changeRepoRules,
  repoRules.removeRepos,
  listAuditRecords,
  grants.listGrants,
  grants.addGrants,
  grants.removeGrants,
  createScopedAccessToken,
  revokeScopedAccessToken,
  account.setUp,
  account.getLink,
  account.getAuthState,
  account.logIn,
  beginSignOn,
  finishSignOn,
  account.logOut,
  account.changePassword,
  account.getAccount,
  account.getUsage,
  account.listKeys,
  account.createKey,
  account.deleteKey,
  account.listTokens,
  consents.getConsentRequest,
  consents.answerConsentRequest,
  consents.listApplications,
  consents.endApplication,
  instance.getLicence,
  instance.setLicence,
  instance.removeLicence,
  instance.getInstance,
  instance.changeInstance,
  system.getHealth,
  system.getHealthSeries,
  system.getReady,
  system.getVersion,
  status.getStatus,
  status.makeBackup,
  ...DESCRIPTION_ENDPOINTS,
  searches.explainSearch,
];
