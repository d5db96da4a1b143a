// Ways in, in a real browser: the first account, an identity provider, an application; an instance below a path.
// One browser serves all parts.
// tier: ci (browser)

import './parts/setup.ts';
import './parts/consent.ts';
import './parts/sign-on.ts';
import './parts/base-path.ts';
