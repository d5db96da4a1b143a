// Run by the build: writes the API description, which takes 0.3 s. The address is filled in when it is served.

import { writeFileSync } from 'node:fs';
import { readProductVersion } from '../base/config/version.ts';
import { DOCUMENT_FILE, OPEN_ADDRESS } from './instance/description-endpoints.ts';
import { ENDPOINTS } from './endpoints.ts';
import { makeDocument } from './instance/openapi.ts';

const options = { baseUrl: OPEN_ADDRESS, version: readProductVersion() };
writeFileSync(DOCUMENT_FILE, JSON.stringify(makeDocument(ENDPOINTS, options)));
