// Files and folders, in a real browser.
// One browser serves all parts.
// tier: ci (browser)

import './parts/code.ts';
import './parts/folders.ts';
