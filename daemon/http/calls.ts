// Runs steps 5, 8 and 10 to 12 for each call that a handler makes (`Calls` of api/shapes/endpoint.ts).

import { paced } from '../base/pace.ts';
import { type AccessParts, checkRights, countCall } from './access.ts';
import { ClientGoneError, type HttpRequest } from './adapters/adapter.ts';
import type { Admission, Permit } from './admission.ts';
import type { Calls, Rights } from '../api/shapes/endpoint.ts';
import { clientKeyOf } from './client-address.ts';
import type { Exchange } from './exchange.ts';

interface Gates {
  readonly accessParts: AccessParts;
  readonly admission: Admission;
}

export function acquirePermit({ admission }: Gates, exchange: Exchange): Promise<Permit> {
  return admission.acquire(clientKeyOf(exchange), exchange.request.signal);
}

/** Waits for the time slice of a call; undefined: run now. Errors: ClientGoneError. */
export function pauseOf(exchange: Exchange): Promise<void> | undefined {
  const pause = paced(clientKeyOf(exchange));
  return pause === undefined ? undefined : stillThere(pause, exchange.request);
}

async function stillThere(pause: Promise<void>, { signal }: HttpRequest): Promise<void> {
  await pause;
  if (signal.aborted) throw new ClientGoneError();
}

export class ExchangeCalls implements Calls {
  readonly #gates: Gates;
  readonly #exchange: Exchange;

  constructor(gates: Gates, exchange: Exchange) {
    this.#gates = gates;
    this.#exchange = exchange;
  }

  async count(): Promise<void> {
    await countCall(this.#gates.accessParts, this.#exchange.caller);
    await pauseOf(this.#exchange);
  }

  async admit(): Promise<Permit> {
    // A permit taken now would never be released.
    if (this.#exchange.isOver === true) throw new ClientGoneError();
    let permit: Permit | undefined;
    let isOver = false;
    // Before waiting: the request may end first.
    this.#exchange.ends.push(() => {
      isOver = true;
      permit?.release();
    });
    permit = await acquirePermit(this.#gates, this.#exchange);
    if (isOver) permit.release();
    return permit;
  }

  require(rights: Rights): void {
    checkRights(this.#gates.accessParts, { endpoint: rights, caller: this.#exchange.caller });
  }
}
