// Run by the build: writes the API description beside the code that serves it. Making it takes 0.3 s, in which a daemon
// would answer nobody. Its address is left open, as it is known only where it is served.

import { writeFileSync } from 'node:fs';
import { readProductVersion } from '../base/config/version.ts';
import { DOCUMENT_FILE, OPEN_ADDRESS } from './instance/description-endpoints.ts';
import { ENDPOINTS } from './endpoints.ts';
import { makeDocument } from './instance/openapi.ts';

const options = { baseUrl: OPEN_ADDRESS, version: readProductVersion() };
writeFileSync(DOCUMENT_FILE, JSON.stringify(makeDocument(ENDPOINTS, options)));
