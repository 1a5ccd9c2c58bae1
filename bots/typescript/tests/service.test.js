// What a bot serves besides its games.
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { Bot } from 'bot-arena';
import { service as health } from 'grpc-health-check';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';

import { GAMES, Stream, serving } from './harness.js';

const CONNECT_FOUR = GAMES.connectFour.service;
const HEALTH = 'grpc.health.v1.Health';

const bot = () => new Bot('left', '1').connectFour(() => ({ getPoint: (ask) => ask.points()[0] }));

function check(client, service) {
  const { path: method, requestSerialize, responseDeserialize } = health.Check;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      method,
      requestSerialize,
      responseDeserialize,
      { service },
      (error, reply) => (error ? reject(error) : resolve(reply.status)),
    );
  });
}

function reflect(client, version, request) {
  const packages = path.dirname(
    createRequire(import.meta.url).resolve('@grpc/reflection/package.json'),
  );
  const file = path.join(packages, `build/proto/grpc/reflection/${version}/reflection.proto`);
  const service = loadSync(file, { oneofs: true })[`grpc.reflection.${version}.ServerReflection`];
  const { path: method, requestSerialize, responseDeserialize } = service.ServerReflectionInfo;
  const call = client.makeBidiStreamRequest(method, requestSerialize, responseDeserialize);
  return new Promise((resolve, reject) => {
    call.on('data', resolve).on('error', reject);
    call.write(request);
    call.end();
  });
}

test('a bot is healthy, and so is each of its games', async (t) => {
  const client = await serving(t, bot());
  assert.equal(await check(client, ''), 'SERVING');
  assert.equal(await check(client, CONNECT_FOUR), 'SERVING');
  await assert.rejects(check(client, GAMES.othello.service), { code: grpc.status.NOT_FOUND });
});

test('a game that is not served is unimplemented', async (t) => {
  const stream = new Stream(await serving(t, bot()), GAMES.othello);
  stream.start();
  assert.equal((await stream.status())[0], grpc.status.UNIMPLEMENTED);
});

for (const version of ['v1', 'v1alpha']) {
  test(`a bot describes itself by ${version}`, async (t) => {
    const client = await serving(t, bot());
    const listed = await reflect(client, version, { listServices: '' });
    const names = listed.listServicesResponse.service.map(({ name }) => name);
    assert.deepEqual(names.sort(), [CONNECT_FOUR, HEALTH]);
    for (const name of names) {
      const { fileDescriptorResponse } = await reflect(client, version, {
        fileContainingSymbol: name,
      });
      const files = fileDescriptorResponse.fileDescriptorProto;
      assert.ok(files.length >= 1, name);
    }
  });
}

test('a bot whose places are all taken is healthy', async (t) => {
  const client = await serving(t, bot());
  await new Stream(client).ready();
  const waiting = Array.from({ length: 50 }, () => new Stream(client));
  for (const stream of waiting) stream.start();
  for (let i = 0; i < 20; i += 1) assert.equal(await check(client, ''), 'SERVING');
  for (const stream of waiting) stream.cancel();
});
