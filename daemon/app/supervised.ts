// Tells the service manager that started the daemon what it does: ready, alive, reloading, stopping.

import { messageOf } from '../base/caught.ts';
import type { ServiceManager } from '../base/config/service-manager.ts';
import type { Log } from '../base/log.ts';
import { openNotices } from '../base/notices.ts';
import type { Daemon } from './main.ts';

type Supervised = Pick<Daemon, 'readConfigurationAgain' | 'close'>;

/**
 * Reports to the service manager from now on; `daemon` already listens.
 * @returns the methods of `daemon`, which also report
 */
export function supervised(
  daemon: Supervised,
  { notices, watchdogMs }: ServiceManager,
  log: Log,
): Supervised {
  const tell = notices === undefined ? undefined : noticesTo(notices, log);
  if (tell === undefined) return daemon;
  tell('READY=1');
  // On the main thread: when that hangs, the service manager ends the process. Half of the time, as systemd advises.
  if (watchdogMs !== undefined) setInterval(() => tell('WATCHDOG=1'), watchdogMs / 2).unref();
  return {
    async readConfigurationAgain() {
      tell(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
      await daemon.readConfigurationAgain();
      tell('READY=1');
    },
    close() {
      tell('STOPPING=1');
      return daemon.close();
    },
  };
}

function noticesTo(address: string, log: Log): ((notice: string) => void) | undefined {
  const warn = (error: unknown): void =>
    log.warn('the service manager cannot be told what the daemon does', {
      error: messageOf(error),
    });
  try {
    const send = openNotices(address);
    return (notice) => {
      try {
        send(notice);
      } catch (error) {
        warn(error);
      }
    };
  } catch (error) {
    warn(error);
    return undefined;
  }
}
