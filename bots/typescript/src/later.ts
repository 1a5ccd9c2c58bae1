/**
 * Services whose libraries are loaded by the first call. The libraries of health and reflection take
 * as long to load as all else, and in a game nobody calls them.
 */

import type * as grpc from '@grpc/grpc-js';

import { statusOf } from './fault.js';

/** What a library serves. */
export interface Library {
  addToServer(server: grpc.Server): void;
}

/** A method's path, and which sides of it are streams. */
export interface Method {
  path: string;
  requestStream: boolean;
  responseStream: boolean;
}

type LoadedMethod = [grpc.MethodDefinition<unknown, unknown>, Handler];
type Handler = (call: object, callback?: grpc.sendUnaryData<unknown>) => void;
type Call = grpc.ServerDuplexStream<Buffer, Buffer> & { request?: Buffer };

/** Serves these methods; `load` gives what they are, and is called at most once. */
export function addLater(
  server: grpc.Server,
  methods: readonly Method[],
  load: () => Promise<Library>,
): void {
  let loading: Promise<Map<string, LoadedMethod>> | null = null;
  const handle = async (
    path: string,
    call: Call,
    callback?: grpc.sendUnaryData<Buffer>,
  ): Promise<void> => {
    try {
      loading ??= load().then(methodsOf);
      const loaded = (await loading).get(path);
      if (!loaded) throw new Error(`the library has no ${path}`);
      const [method, handler] = loaded;
      if (call.cancelled) return;
      handler(
        typed(call, method),
        callback && ((error, value, ...rest) =>
          callback(error, value ? method.responseSerialize(value) : null, ...rest)),
      );
    } catch (error) {
      if (callback) callback(statusOf(error));
      else call.emit('error', statusOf(error));
    }
  };
  const pass = (message: Buffer): Buffer => message;
  for (const method of methods) {
    const definition = {
      ...method,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    };
    const handler = (call: Call, callback?: grpc.sendUnaryData<Buffer>): void =>
      void handle(method.path, call, callback);
    server.addService({ method: definition }, { method: handler as grpc.UntypedHandleCall });
  }
}

function methodsOf(library: Library): Map<string, LoadedMethod> {
  const found = new Map<string, LoadedMethod>();
  const server: Pick<grpc.Server, 'addService'> = {
    addService(service, handlers) {
      for (const [name, method] of Object.entries(service)) {
        const handler = handlers[name] ?? handlers[method.originalName ?? name];
        found.set(method.path, [method, handler as Handler]);
      }
    },
  };
  library.addToServer(server as grpc.Server);
  return found;
}

/** A call whose messages are bytes, as one of the library's own messages. */
function typed(call: Call, method: grpc.MethodDefinition<unknown, unknown>): object {
  const of: object = new Proxy(call, {
    get(target, key) {
      if (key === 'request') return target.request && method.requestDeserialize(target.request);
      if (key === 'write') {
        return (message: unknown) => target.write(method.responseSerialize(message));
      }
      if (key === 'on') {
        return (event: string, listener: (value: unknown) => void) => {
          const read = (message: Buffer): void => listener(method.requestDeserialize(message));
          target.on(event, event === 'data' ? read : listener);
          return of;
        };
      }
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return of;
}
