// Files with hostile names, files that are not searched, large files, in a real browser.
// One browser serves all parts.
// tier: ci (browser)

import './parts/names.ts';
import './parts/indexed.ts';
import './parts/large.ts';
