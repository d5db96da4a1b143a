// All endpoints of the daemon, in the order of the API description.

import {
  changePassword,
  createKey,
  deleteKey,
  getAccount,
  getAuthState,
  getLink,
  getUsage,
  listKeys,
  listTokens,
  logIn,
  logOut,
  setUp,
} from './accounts/account-endpoints.ts';
import { listAuditRecords } from './accounts/audit-endpoints.ts';
import {
  answerConsentRequest,
  endApplication,
  getConsentRequest,
  listApplications,
} from './accounts/consent-endpoints.ts';
import { getAuthors } from './history/author-endpoints.ts';
import { getBlame } from './history/blame-endpoints.ts';
import { getCommit } from './history/commit-endpoints.ts';
import { getCommits } from './history/commit-list-endpoints.ts';
import {
  getConnectionSyncCounts,
  getConnectionSyncStatus,
  listConnections,
  triggerConnectionSync,
} from './jobs/connection-endpoints.ts';
import { DESCRIPTION_ENDPOINTS } from './instance/description-endpoints.ts';
import { getDiff } from './history/diff-endpoints.ts';
import type { Endpoint } from './shapes/endpoint.ts';
import { getFiles } from './sources/file-endpoints.ts';
import { getFolderContents } from './sources/folder-endpoints.ts';
import { addGrants, listGrants, removeGrants } from './accounts/grant-endpoints.ts';
import {
  changeInstance,
  getInstance,
  getLicence,
  setLicence,
} from './instance/instance-endpoints.ts';
import {
  createUser,
  deleteUser,
  getUser,
  listUsers,
  updateUser,
} from './accounts/member-endpoints.ts';
import {
  getJobLogs,
  getRepoIndexStatus,
  getRepoSyncCounts,
  listJobs,
  triggerRepoIndex,
} from './jobs/job-endpoints.ts';
import { findDefinitions, findReferences } from './search/navigation-endpoints.ts';
import { getRaw } from './sources/raw-endpoints.ts';
import { getHealthSeries } from './instance/health-endpoints.ts';
import { getRefs } from './sources/ref-endpoints.ts';
import { listRepos } from './sources/repo-endpoints.ts';
import { createScopedAccessToken, revokeScopedAccessToken } from './accounts/token-endpoints.ts';
import { explainSearch, search, streamSearch } from './search/search-endpoints.ts';
import { listSkippedFiles } from './sources/skipped-endpoints.ts';
import { getSuggestions } from './search/suggestion-endpoints.ts';
import { beginSignOn, finishSignOn } from './accounts/sign-on-endpoints.ts';
import { getSource } from './sources/source-endpoints.ts';
import { getHealth, getReady, getVersion } from './instance/system-endpoints.ts';
import { getTree } from './sources/tree-endpoints.ts';
import { receiveWebhook } from './jobs/webhook-endpoint.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  search,
  streamSearch,
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
  listConnections,
  getConnectionSyncStatus,
  getConnectionSyncCounts,
  triggerConnectionSync,
  receiveWebhook,
  listSkippedFiles,
  getRepoIndexStatus,
  getRepoSyncCounts,
  listJobs,
  getJobLogs,
  triggerRepoIndex,
  getUser,
  listUsers,
  deleteUser,
  createUser,
  updateUser,
  listAuditRecords,
  listGrants,
  addGrants,
  removeGrants,
  createScopedAccessToken,
  revokeScopedAccessToken,
  setUp,
  getLink,
  getAuthState,
  logIn,
  beginSignOn,
  finishSignOn,
  logOut,
  changePassword,
  getAccount,
  getUsage,
  listKeys,
  createKey,
  deleteKey,
  listTokens,
  getConsentRequest,
  answerConsentRequest,
  listApplications,
  endApplication,
  getLicence,
  setLicence,
  getInstance,
  changeInstance,
  getHealth,
  getHealthSeries,
  getReady,
  getVersion,
  ...DESCRIPTION_ENDPOINTS,
  explainSearch,
];
