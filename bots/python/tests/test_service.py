"""What a bot serves besides its games, in both flavours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from bot_arena import big_two, othello
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from harness import TIMEOUT, Flavour, Stream, serving
from test_session import Holding, Leftmost

SERVING = health_pb2.HealthCheckResponse.SERVING
CONNECT_FOUR = "games.connect_four.v1.ConnectFourBot"


def check(channel: grpc.Channel, service: str) -> int:
    request = health_pb2.HealthCheckRequest(service=service)
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = stub.Check(request, timeout=TIMEOUT)
    return int(answer.status)


def reflect(
    channel: grpc.Channel, version: str, request: reflection_pb2.ServerReflectionRequest
) -> reflection_pb2.ServerReflectionResponse:
    method = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )
    [answer] = method(iter([request]), timeout=TIMEOUT)
    found: reflection_pb2.ServerReflectionResponse = answer
    return found


def test_a_bot_is_healthy_and_so_is_each_of_its_games(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        assert check(channel, "") == SERVING
        assert check(channel, CONNECT_FOUR) == SERVING
        with pytest.raises(grpc.RpcError) as raised:
            check(channel, othello.GAME.service)
        assert raised.value.code() == grpc.StatusCode.NOT_FOUND


def test_a_game_that_is_not_served_is_unimplemented(flavour: Flavour, tmp_path: Path) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel, big_two.GAME)
        stream.start()
        assert stream.status()[0] == grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_a_bot_describes_itself(flavour: Flavour, tmp_path: Path, version: str) -> None:
    bot = flavour.bot("left", "1").connect_four(flavour.of(Leftmost))
    with serving(bot, tmp_path) as channel:
        listed = reflect(
            channel, version, reflection_pb2.ServerReflectionRequest(list_services="")
        )
        names = [service.name for service in listed.list_services_response.service]
        assert CONNECT_FOUR in names
        assert "grpc.health.v1.Health" in names
        assert othello.GAME.service not in names
        for name in names:
            asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol=name)
            files = reflect(channel, version, asked).file_descriptor_response
            assert len(files.file_descriptor_proto) > 0, name


def test_a_bot_whose_places_are_all_taken_is_healthy(flavour: Flavour, tmp_path: Path) -> None:
    holding = Holding()
    bot = flavour.bot("hold", "1").connect_four(holding.bot(flavour))
    with serving(bot, tmp_path) as channel:
        stream = Stream(channel)
        holding.ask(stream)
        waiting = [Stream(channel) for _ in range(50)]
        for other in waiting:
            other.start()
        for _ in range(20):
            assert check(channel, "") == SERVING
            request = reflection_pb2.ServerReflectionRequest(list_services="")
            assert reflect(channel, "v1", request).HasField("list_services_response")
        for other in waiting:
            other.cancel()
        holding.released.set()
        assert stream.answer().number == 1
