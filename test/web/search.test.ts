// The box of a search, its suggestions, filters, plan; keys; files, commits and pages around it, in a real browser.
// One browser serves all parts.
// tier: ci (browser)

import './parts/pages.ts';
import './parts/details.ts';
import './parts/typing.ts';
