"""A Connect Four bot without a kit: it plays the leftmost column that has room.

    python3 -m venv venv
    venv/bin/pip install grpcio grpcio-tools
    mkdir gen
    venv/bin/python -m grpc_tools.protoc -I PROTO --python_out=gen --grpc_python_out=gen \
        PROTO/arena/v1/envelope.proto PROTO/games/connect_four/v1/connect_four.proto
    arena check --game connect-four 'exec:venv/bin/python leftmost.py'

PROTO is the folder proto/ of the repository. docs/protocol.md explains each step.
"""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

# The generated modules import each other from the folder that they were written to.
sys.path.insert(0, os.environ.get("GENERATED", "gen"))

import grpc
from arena.v1.envelope_pb2 import Ready
from games.connect_four.v1 import connect_four_pb2 as pb
from games.connect_four.v1 import connect_four_pb2_grpc as service

MAX_GAMES = 4


class Leftmost(service.ConnectFourBotServicer):
    def Play(self, calls, context):
        """One stream is one seat in one game: keep what belongs to the game in here."""
        for call in calls:
            if not call.HasField("number"):
                continue  # A notice, such as GameOver: no answer.
            if call.HasField("past_answer"):
                continue  # It was answered on an earlier stream. Never answer it again.
            if call.HasField("start"):
                ready = Ready(
                    bot="leftmost", version="1.0", max_games=MAX_GAMES, can_resume=True
                )
                yield pb.ConnectFourAnswer(number=call.number, ready=ready)
            elif call.HasField("get_point"):
                top = call.get_point.top
                y = next(column for column, free in enumerate(top) if free > 0)
                point = pb.Point(x=top[y] - 1, y=y)
                yield pb.ConnectFourAnswer(number=call.number, point=point)
        # The referee has closed its side: returning closes ours, with status OK.


def main():
    # A stream has a thread to itself. Some are free for streams that are just ending.
    server = grpc.server(
        ThreadPoolExecutor(2 * MAX_GAMES + 2), options=[("grpc.so_reuseport", 0)]
    )
    service.add_ConnectFourBotServicer_to_server(Leftmost(), server)

    listen = os.environ.get("BOT_LISTEN", "tcp:127.0.0.1:50051")
    kind, _, where = listen.partition(":")
    if kind not in ("unix", "tcp"):
        sys.exit(f'BOT_LISTEN is "{listen}": expected unix:PATH or tcp:HOST:PORT')
    # gRPC writes "unix:PATH" and "HOST:PORT", and says which port it chose for port 0.
    port = server.add_insecure_port(listen if kind == "unix" else where)
    server.start()
    shown = listen if kind == "unix" else f"tcp:{where.rpartition(':')[0]}:{port}"
    print(f"listening on {shown}", flush=True)

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    # No new games; those that run have five seconds more.
    server.stop(grace=5).wait()


if __name__ == "__main__":
    main()
