// Makes Node.js load its own fetch before the package undici, which would otherwise replace the dispatcher of the global
// fetch. Version 7 then crashes the process when a server closes while a body waits for its reader (nodejs/undici#5360;
// fixed in 8, for Node.js 22). Import this before undici, for its side effect.

void globalThis.Headers;
