/** What a bot serves, and how it stops. */

import { toBinary, type DescFile } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import * as grpc from '@grpc/grpc-js';
import type { ReflectionService } from '@grpc/reflection';
import type { HealthImplementation } from 'grpc-health-check';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { ListenError, readAddress, removeSocket } from './address.js';
import { Fault, statusOf } from './fault.js';
import { addLater, type Method } from './later.js';
import { Session, type Ready, type ServedGame } from './session.js';
import { Slots } from './slots.js';

/** How long games may go on after the bot was asked to stop. */
export const GRACE_MS = 5000;
const HEALTH = 'grpc.health.v1.Health';
const HEALTH_METHODS: readonly Method[] = [
  { path: `/${HEALTH}/Check`, requestStream: false, responseStream: false },
  { path: `/${HEALTH}/List`, requestStream: false, responseStream: false },
  { path: `/${HEALTH}/Watch`, requestStream: false, responseStream: true },
];
const REFLECTION_METHODS: readonly Method[] = ['v1', 'v1alpha'].map((version) => ({
  path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
  requestStream: true,
  responseStream: true,
}));

type Stream = grpc.ServerDuplexStream<Buffer, Buffer>;

/**
 * Serves until `stop` is aborted; tells `listening` the address once it listens. Rejects with a
 * `ListenError`.
 */
export async function serve(
  address: string,
  games: readonly ServedGame[],
  ready: Ready,
  stop: AbortSignal,
  listening: (address: string) => void,
): Promise<void> {
  const { target, path } = readAddress(address);
  const server = new grpc.Server({ 'grpc.enable_channelz': 0 });
  const running = new RunningGames(ready);
  const names = games.map(({ game }) => game.service.typeName);
  for (const served of games) running.addTo(server, served);
  const health = new Health(names);
  health.addTo(server);
  addLater(server, REFLECTION_METHODS, () => reflection(games, names));

  const port = await listen(server, address, target, path);
  try {
    listening(path === null ? address.replace(/[0-9]+$/, String(port)) : `unix:${path}`);
    if (!stop.aborted) await once(stop, 'abort');
    running.stop();
    // Whoever watches our health is told; it must not keep us running.
    health.stop();
    server.tryShutdown(() => {});
    await within(running.empty(), GRACE_MS);
  } finally {
    server.forceShutdown();
    if (path !== null) removeSocket(path);
  }
}

async function listen(
  server: grpc.Server,
  address: string,
  target: string,
  path: string | null,
): Promise<number> {
  try {
    if (path !== null) removeSocket(path);
    await probe(target, path);
    return await new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      server.bindAsync(target, credentials, (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
  } catch (error) {
    server.forceShutdown();
    throw new ListenError(`could not listen on ${address}: ${(error as Error).message}`);
  }
}

/** Rejects where the address can't be used: gRPC would say so in words of its own, and twice. */
async function probe(target: string, path: string | null): Promise<void> {
  const colon = target.lastIndexOf(':');
  const host = target.slice(0, colon).replace(/^\[|\]$/g, '');
  const probe = createServer();
  const place = { host, port: Number(target.slice(colon + 1)) };
  probe.listen(path === null ? place : { path });
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

/** Waits for this, and no longer than so many milliseconds. */
export async function within(happening: Promise<unknown>, ms: number): Promise<void> {
  const happened = new AbortController();
  const over = delay(ms, undefined, { signal: happened.signal }).catch(() => {});
  await Promise.race([happening, over]);
  happened.abort();
}

/** The games that run at the same time, at most `maxGames`. */
export class RunningGames {
  readonly #ready: Ready;
  readonly #slots: Slots;
  readonly #streams = new Set<Stream>();
  #isStopping = false;
  #emptied: (() => void) | null = null;

  constructor(ready: Ready) {
    this.#ready = ready;
    this.#slots = new Slots(ready.maxGames);
  }

  /** Serves a game's one call. Messages pass through as bytes. */
  addTo(server: grpc.Server, served: ServedGame): void {
    const pass = (message: Buffer): Buffer => message;
    const method = {
      path: `/${served.game.service.typeName}/Play`,
      requestStream: true,
      responseStream: true,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    };
    const play = (stream: Stream): void => void this.#serve(served, stream);
    server.addService({ Play: method }, { Play: play });
  }

  /** No game begins any more. */
  stop(): void {
    this.#isStopping = true;
  }

  /** All streams are closed. */
  async empty(): Promise<void> {
    if (this.#streams.size > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
  }

  async #serve(served: ServedGame, stream: Stream): Promise<void> {
    const closed = new AbortController();
    this.#streams.add(stream);
    // It is emitted when the stream is closed, whoever has closed it.
    stream.on('cancelled', () => {
      closed.abort();
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#emptied?.();
    });
    try {
      if (this.#isStopping) throw new Fault(grpc.status.UNAVAILABLE, 'the bot is stopping');
      const write = (answer: Uint8Array): boolean =>
        stream.write(Buffer.from(answer.buffer, answer.byteOffset, answer.length));
      await this.play(served, stream, write, closed.signal);
      stream.end();
    } catch (error) {
      if (!closed.signal.aborted) stream.emit('error', statusOf(error));
    }
  }

  /** One game, to the end of its calls. `closed` is aborted when it is cut off. */
  async play(
    served: ServedGame,
    calls: Readable,
    write: (answer: Uint8Array) => void,
    closed: AbortSignal,
  ): Promise<void> {
    // A callback may go on for ever after its game was cut off: that must not hold the place.
    const cutOff = once(closed, 'abort').then(() => Promise.reject(closed.reason));
    cutOff.catch(() => {});
    const free = await Promise.race([this.#slots.take(closed), cutOff]);
    try {
      const session = new Session(served, this.#ready, closed);
      // An iterator of the usual kind would destroy the stream, and no status could be sent.
      for await (const call of calls.iterator({ destroyOnReturn: false })) {
        const answer = await Promise.race([session.hear(call as Uint8Array), cutOff]);
        if (answer) write(answer);
      }
    } finally {
      free();
    }
  }
}

/** The health of the bot and of each of its games. */
class Health {
  readonly #names: readonly string[];
  #isStopping = false;
  #loaded: HealthImplementation | null = null;

  constructor(games: readonly string[]) {
    this.#names = ['', ...games];
  }

  addTo(server: grpc.Server): void {
    addLater(server, HEALTH_METHODS, async () => {
      const { HealthImplementation } = await import('grpc-health-check');
      const status = this.#isStopping ? 'NOT_SERVING' : 'SERVING';
      const statuses = this.#names.map((name) => [name, status] as const);
      this.#loaded = new HealthImplementation(Object.fromEntries(statuses));
      return this.#loaded;
    });
  }

  /** Tells whoever watches. */
  stop(): void {
    this.#isStopping = true;
    for (const name of this.#names) this.#loaded?.setStatus(name, 'NOT_SERVING');
  }
}

/** Says of each service which messages it has. The package knows only definitions of proto-loader. */
async function reflection(
  games: readonly ServedGame[],
  names: readonly string[],
): Promise<ReflectionService> {
  const [{ ReflectionService }, { service: health }] = await Promise.all([
    import('@grpc/reflection'),
    import('grpc-health-check'),
  ]);
  const files = new Map<string, Buffer>();
  const add = (file: DescFile): void => {
    if (files.has(file.name)) return;
    files.set(file.name, Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
    file.dependencies.forEach(add);
  };
  for (const { game } of games) add(game.service.file);
  const healthFiles = (Object.values(health)[0] as unknown as HealthMethod).requestType;
  const fileDescriptorProtos = [...files.values(), ...healthFiles.fileDescriptorProtos];
  const definition = { bot: { fileDescriptorProtos } };
  return new ReflectionService(
    definition as unknown as ConstructorParameters<typeof ReflectionService>[0],
    { services: [...names, HEALTH] },
  );
}

interface HealthMethod {
  requestType: { fileDescriptorProtos: Buffer[] };
}
