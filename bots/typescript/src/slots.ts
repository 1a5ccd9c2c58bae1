/** The places for the games that run at the same time. */

import { status } from '@grpc/grpc-js';

import { Fault } from './fault.js';

// How long a new game waits for one to end: a referee that plays one game after another may open
// the next before we have seen the last one end. The time is counted in ticks, so that a bot that
// thinks for long on the event loop uses up one tick and not the whole time.
const TICK_MS = 100;
const TICKS = 10;

export class Slots {
  readonly #all: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(all: number) {
    this.#all = all;
  }

  /**
   * Takes a place, and gives what frees it again. Rejects with a `Fault` where none has come free
   * in time, and never settles once the stream is closed.
   */
  async take(closed: AbortSignal): Promise<() => void> {
    if (this.#taken < this.#all) this.#taken += 1;
    else await this.#wait(closed);
    let isFreed = false;
    return () => {
      if (isFreed) return;
      isFreed = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken -= 1;
    };
  }

  #wait(closed: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let ticks = 0;
      const leave = (): void => {
        clearInterval(timer);
        closed.removeEventListener('abort', leave);
        const at = this.#waiting.indexOf(next);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const next = (): void => {
        leave();
        resolve();
      };
      const timer = setInterval(() => {
        ticks += 1;
        if (ticks < TICKS) return;
        leave();
        const words = `max_games is ${this.#all}, and as many games are running`;
        reject(new Fault(status.RESOURCE_EXHAUSTED, words));
      }, TICK_MS);
      this.#waiting.push(next);
      closed.addEventListener('abort', leave);
    });
  }
}
