// Has Node.js load its own fetch before the package undici is loaded, which would else become what the global fetch sends with:
// of version 7 that ends the process where a server closes while a body waits for its reader (nodejs/undici#5360; mended in 8,
// for Node.js 22). Imported before undici, for that alone.

void globalThis.Headers;
