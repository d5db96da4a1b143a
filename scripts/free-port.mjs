// Whether `trawl serve` will find its port free: asked before minutes of installing and building, not behind them.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';

const VERSION_MS_MAX = 1000;

/** Exits with 2 where another program has the port. What is no port, or no address, is left to the command line to refuse. */
export async function ensurePortIsFree(args, env) {
  if (args[0] !== 'serve' || args.includes('--help')) return;
  const { port, host } = addressOf(args.slice(1), env);
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return;
  const server = createServer();
  try {
    server.listen(Number(port), host);
    await once(server, 'listening');
  } catch (error) {
    if (error.code !== 'EADDRINUSE') return;
    console.error(
      `error: port ${port} of ${host} is in use by ${await holderOf(host, port)}. ` +
        `Stop that, or choose another port, such as --port ${Number(port) + 1}`,
    );
    process.exit(2);
  } finally {
    server.close();
  }
}

/** As the command line takes them (daemon/cli/commands/serve.ts). */
function addressOf(args, env) {
  const options = { port: { type: 'string' }, host: { type: 'string' } };
  const { values } = parseArgs({ args, options, strict: false });
  return {
    port: String(values.port ?? (env.TRAWL_PORT || 3000)),
    host: String(values.host ?? (env.TRAWL_HOST || '127.0.0.1')),
  };
}

async function holderOf(host, port) {
  try {
    const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}/api/version`;
    const answer = await fetch(address, { signal: AbortSignal.timeout(VERSION_MS_MAX) });
    if (typeof (await answer.json()).version === 'string') return 'another Trawl';
  } catch {
    // It speaks another language, or does not answer: it is another program.
  }
  return 'another program ("ss -ltnp" or "lsof -i" shows which)';
}
