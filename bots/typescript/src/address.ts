/** Where a bot listens. */

import { lstatSync, unlinkSync } from 'node:fs';

/** A bot can't listen where it should. */
export class ListenError extends Error {}

/** An address as gRPC has it, and the path if it is a socket's. */
export interface Address {
  readonly target: string;
  readonly path: string | null;
}

/** Reads `unix:PATH` or `tcp:HOST:PORT`. Throws a `ListenError`. */
export function readAddress(address: string): Address {
  const unix = /^unix:(?:\/\/)?(.+)$/s.exec(address);
  if (unix) return { target: `unix:${unix[1]}`, path: unix[1] as string };
  const tcp = /^tcp:(\[[^[\]]+\]|[^:[\]]+):([0-9]{1,5})$/.exec(address);
  if (tcp && Number(tcp[2]) < 1 << 16) return { target: `${tcp[1]}:${Number(tcp[2])}`, path: null };
  throw new ListenError(`BOT_LISTEN is "${address}": expected unix:PATH or tcp:HOST:PORT`);
}

/** Removes a socket that a dead process left behind; nothing else. */
export function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path);
}
