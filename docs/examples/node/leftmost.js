// A Connect Four bot without a kit: it plays the leftmost column that has room.
//
//     npm install @grpc/grpc-js @grpc/proto-loader
//     cp -r /path/to/the/repository/proto .
//     arena check --game connect-four 'exec:node leftmost.js'
//
// docs/protocol.md explains each step.
'use strict';

const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const MAX_GAMES = 16;

const definition = protoLoader.loadSync('games/connect_four/v1/connect_four.proto', {
  includeDirs: [process.env.PROTO || 'proto'],
  keepCase: true, // Fields keep their names: get_point, not getPoint.
  defaults: true, // A zero that is not sent is 0, not undefined.
  oneofs: true, // call.call is the name of the field that is set.
  longs: String, // bot_seed has 64 bits, a number of JavaScript 53.
});
const { ConnectFourBot } = grpc.loadPackageDefinition(definition).games.connect_four.v1;

// One stream is one seat in one game: keep what belongs to the game in here.
function play(stream) {
  stream.on('data', (call) => {
    if (call._number === undefined) return; // A notice, such as GameOver: no answer.
    if (call.past_answer !== null) return; // Answered on an earlier stream: never answer again.
    const { number } = call;
    if (call.call === 'start') {
      const ready = { bot: 'leftmost', version: '1.0', max_games: MAX_GAMES, can_resume: true };
      stream.write({ number, ready });
    } else if (call.call === 'get_point') {
      const { top } = call.get_point; // A Buffer with one byte for each column.
      const y = top.findIndex((free) => free > 0);
      stream.write({ number, point: { x: top[y] - 1, y } });
    }
  });
  // The referee has closed its side: close ours, with status OK.
  stream.on('end', () => stream.end());
  // The game was cut off: nothing to do, but without a listener it would end the process.
  stream.on('error', () => {});
}

const listen = process.env.BOT_LISTEN || 'tcp:127.0.0.1:50051';
if (!/^(unix|tcp):/.test(listen)) {
  console.error(`BOT_LISTEN is "${listen}": expected unix:PATH or tcp:HOST:PORT`);
  process.exit(1);
}
// gRPC writes "unix:PATH" and "HOST:PORT", and says which port it chose for port 0.
const target = listen.replace(/^tcp:/, '');
const server = new grpc.Server();
server.addService(ConnectFourBot.service, { Play: play });
server.bindAsync(target, grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) {
    console.error(`could not listen on ${listen}: ${error.message}`);
    process.exit(1);
  }
  const shown = listen.startsWith('unix:') ? listen : listen.replace(/:[0-9]+$/, `:${port}`);
  console.log(`listening on ${shown}`);
});

function stop() {
  // No new games; those that run have five seconds more.
  server.tryShutdown(() => process.exit(0));
  setTimeout(() => process.exit(0), 5000);
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
