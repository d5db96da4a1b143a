// All endpoints of the daemon, in the order of the API description.

import {
  changePassword,
  createKey,
  deleteKey,
  getAccount,
  getUsage,
  listKeys,
  listTokens,
  logIn,
  logOut,
  setUp,
} from './account.ts';
import { listAuditRecords } from './audit.ts';
import { getAuthors } from './authors.ts';
import { getBlame } from './blame.ts';
import { getCommit } from './commit.ts';
import { getCommits } from './commits.ts';
import { listConnections } from './connections.ts';
import { DESCRIPTION_ENDPOINTS } from './describe.ts';
import { getDiff } from './diff.ts';
import type { Endpoint } from './endpoint.ts';
import { getFiles } from './files.ts';
import { getFolderContents } from './folder.ts';
import { addGrants, listGrants, removeGrants } from './grants.ts';
import { changeInstance, getInstance, getLicence, setLicence } from './instance.ts';
import { createUser, deleteUser, getUser, listUsers, updateUser } from './members.ts';
import { findDefinitions, findReferences } from './navigation.ts';
import { getRefs } from './refs.ts';
import { listRepos } from './repos.ts';
import { createScopedAccessToken, revokeScopedAccessToken } from './scoped-tokens.ts';
import { explainSearch, search, streamSearch } from './search.ts';
import { listSkippedFiles } from './skipped.ts';
import { getSource } from './source.ts';
import { getHealth, getReady, getVersion } from './system.ts';
import { getTree } from './tree.ts';

export const ENDPOINTS: readonly Endpoint[] = [
  search,
  streamSearch,
  findDefinitions,
  findReferences,
  getSource,
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
  listSkippedFiles,
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
  logIn,
  logOut,
  changePassword,
  getAccount,
  getUsage,
  listKeys,
  createKey,
  deleteKey,
  listTokens,
  getLicence,
  setLicence,
  getInstance,
  changeInstance,
  getHealth,
  getReady,
  getVersion,
  ...DESCRIPTION_ENDPOINTS,
  explainSearch,
];
