// What systemd, or another service manager with its protocol, gives a program that it starts (sd_listen_fds(3), sd_notify(3),
// sd_watchdog_enabled(3)). Taken from the environment, so that child processes do not inherit it.

import { ConfigError } from './error.ts';

export interface ServiceManager {
  /** File descriptor of the listening socket, which outlives the daemon; undefined: the daemon opens its own. */
  readonly listener: number | undefined;
  /** Where to report: the path of a datagram socket, or `@` and an abstract name; undefined: nowhere. */
  readonly notices: string | undefined;
  /** A daemon that does not report for this long is killed; undefined: none is. */
  readonly watchdogMs: number | undefined;
}

/** Source: SD_LISTEN_FDS_START. */
const FIRST_LISTENER = 3;

/** Variables are deleted from `env`. Errors: ConfigError if there are several sockets. */
export function takeServiceManager(
  env: Record<string, string | undefined>,
  pid: number = process.pid,
): ServiceManager {
  const take = (name: string): string | undefined => {
    const text = env[name];
    delete env[name];
    return text === '' ? undefined : text;
  };
  // Those of a parent process are not ours.
  const isOurs = (owner: string | undefined): boolean => Number(owner) === pid;
  const watchdogUs = Number(take('WATCHDOG_USEC') ?? 0);
  const watchdogPid = take('WATCHDOG_PID');
  const listenerPid = take('LISTEN_PID');
  const count = Number(take('LISTEN_FDS') ?? 0);
  take('LISTEN_FDNAMES');
  const hasListener = isOurs(listenerPid) && count > 0;
  if (hasListener && count !== 1)
    throw new ConfigError(
      'LISTEN_FDS',
      `${count} sockets`,
      'allowed: 1; leave one ListenStream in the socket unit (a port alone is for IPv4 and IPv6)',
    );
  return {
    listener: hasListener ? FIRST_LISTENER : undefined,
    notices: take('NOTIFY_SOCKET'),
    watchdogMs:
      watchdogUs > 0 && (watchdogPid === undefined || isOurs(watchdogPid))
        ? watchdogUs / 1000
        : undefined,
  };
}
