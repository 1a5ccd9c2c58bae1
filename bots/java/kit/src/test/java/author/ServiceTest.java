package author;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import botarena.Bot;
import botarena.ConnectFourBot;
import botarena.GameOver;
import botarena.GetPoint;
import botarena.Point;
import botarena.Square;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a bot serves besides its games, and how many of those at once. */
final class ServiceTest {
    private static final String CONNECT_FOUR = "games.connect_four.v1.ConnectFourBot";

    /** Thinks until it is released or interrupted. */
    private static final class Holding {
        final Semaphore entered = new Semaphore(0);
        final Semaphore interrupted = new Semaphore(0);
        final CountDownLatch released = new CountDownLatch(1);
        final List<String> overs = new ArrayList<>();

        ConnectFourBot make() {
            return new ConnectFourBot() {
                @Override
                public Point getPoint(GetPoint ask) throws InterruptedException {
                    entered.release();
                    try {
                        assertTrue(released.await(Referee.LONG, TimeUnit.SECONDS));
                    } catch (InterruptedException cutOff) {
                        interrupted.release();
                        throw cutOff;
                    }
                    return ask.points().get(0);
                }

                @Override
                public void gameOver(GameOver over) {
                    synchronized (overs) {
                        overs.add(over.reason());
                    }
                }
            };
        }

        /** A game in which the bot thinks. */
        Referee.Stream<?, ?> ask(Referee referee) throws InterruptedException {
            var stream = referee.connectFour();
            stream.begin("a");
            stream.tell(SessionTest.getPoint(1).build());
            await(entered);
            return stream;
        }
    }

    private static void await(Semaphore told) throws InterruptedException {
        assertTrue(told.tryAcquire(Referee.LONG, TimeUnit.SECONDS));
    }

    private static Bot leftmost() {
        return new Bot("left", "1").connectFour(() -> ask -> ask.points().get(0));
    }

    private static ServingStatus health(Referee referee, String service) {
        HealthCheckResponse answer =
                HealthGrpc.newBlockingStub(referee.channel)
                        .withDeadlineAfter(Referee.LONG, TimeUnit.SECONDS)
                        .check(HealthCheckRequest.newBuilder().setService(service).build());
        return answer.getStatus();
    }

    private static ServerReflectionResponse reflect(
            Referee referee, ServerReflectionRequest request) throws Exception {
        CompletableFuture<ServerReflectionResponse> answered = new CompletableFuture<>();
        StreamObserver<ServerReflectionRequest> requests =
                ServerReflectionGrpc.newStub(referee.channel)
                        .serverReflectionInfo(
                                new StreamObserver<>() {
                                    @Override
                                    public void onNext(ServerReflectionResponse answer) {
                                        answered.complete(answer);
                                    }

                                    @Override
                                    public void onError(Throwable error) {
                                        answered.completeExceptionally(error);
                                    }

                                    @Override
                                    public void onCompleted() {}
                                });
        requests.onNext(request);
        requests.onCompleted();
        return answered.get(Referee.LONG, TimeUnit.SECONDS);
    }

    @Test
    void aBotIsHealthyAndSoIsEachOfItsGames() throws Exception {
        try (Referee referee = Referee.of(leftmost())) {
            assertEquals(ServingStatus.SERVING, health(referee, ""));
            assertEquals(ServingStatus.SERVING, health(referee, CONNECT_FOUR));
            var unknown =
                    assertThrows(
                            StatusRuntimeException.class,
                            () -> health(referee, "games.othello.v1.OthelloBot"));
            assertEquals(Status.Code.NOT_FOUND, unknown.getStatus().getCode());
            var stream = referee.othello();
            stream.tell(stream.start("a").build());
            assertEquals(Status.Code.UNIMPLEMENTED, stream.end().getCode());
        }
    }

    @Test
    void aBotDescribesItself() throws Exception {
        Bot bot = leftmost().othello(() -> (ask, limit) -> new Square(0, 0));
        try (Referee referee = Referee.of(bot)) {
            List<String> names =
                    reflect(referee, ServerReflectionRequest.newBuilder().setListServices("").build())
                            .getListServicesResponse()
                            .getServiceList()
                            .stream()
                            .map(service -> service.getName())
                            .toList();
            assertTrue(names.contains(CONNECT_FOUR), names::toString);
            assertTrue(names.contains("grpc.reflection.v1alpha.ServerReflection"));
            for (String name : names) {
                ServerReflectionRequest asked =
                        ServerReflectionRequest.newBuilder().setFileContainingSymbol(name).build();
                var files = reflect(referee, asked).getFileDescriptorResponse();
                assertFalse(files.getFileDescriptorProtoList().isEmpty(), name);
            }
        }
    }

    @Test
    void gamesThatThinkHoldUpNothingElse() throws Exception {
        Holding holding = new Holding();
        Bot bot = new Bot("hold", "1").maxGames(16).connectFour(holding::make);
        try (Referee referee = Referee.of(bot)) {
            List<Referee.Stream<?, ?>> streams = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                streams.add(holding.ask(referee));
            }
            List<Referee.Stream<?, ?>> more = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                var stream = referee.connectFour();
                stream.tell(stream.start("b").build());
                more.add(stream);
            }
            assertEquals(ServingStatus.SERVING, health(referee, ""));
            for (Referee.Stream<?, ?> stream : more) {
                Status status = stream.end();
                assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode());
                assertEquals(
                        "max_games is 16, and as many games are running",
                        status.getDescription());
            }
            holding.released.countDown();
            for (Referee.Stream<?, ?> stream : streams) {
                stream.close(1);
            }
        }
    }

    @Test
    void aNewGameWaitsForOneThatEnds() throws Exception {
        try (Referee referee = Referee.of(leftmost())) {
            for (int i = 0; i < 20; i++) {
                var stream = referee.connectFour();
                stream.begin("a");
                var following = referee.connectFour();
                following.tell(following.start("b").build());
                assertTrue(stream.close().isOk());
                // Its first answer is Ready.
                assertEquals(1, following.ask(SessionTest.getPoint(1).build(), 2).getNumber());
                following.cancel();
            }
        }
    }

    @Test
    void aGameThatIsOverTakesNoSlotThoughItsStreamIsOpen() throws Exception {
        try (Referee referee = Referee.of(leftmost())) {
            var stream = referee.connectFour();
            stream.begin("a");
            stream.tell(
                    stream.call("over", arena.v1.Envelope.GameOver.newBuilder().setReason("four"))
                            .build());
            referee.connectFour().begin("b");
            assertTrue(stream.close().isOk());
        }
    }

    @Test
    void aGameThatIsCutOffIsInterruptedAndItsSlotFree() throws Exception {
        Holding holding = new Holding();
        try (Referee referee = Referee.of(new Bot("hold", "1").connectFour(holding::make))) {
            for (int i = 0; i < 3; i++) {
                Referee.Stream<?, ?> stream = holding.ask(referee);
                stream.cancel();
                await(holding.interrupted);
            }
            Referee.Stream<?, ?> last = holding.ask(referee);
            holding.released.countDown();
            last.close(1);
        }
        assertTrue(holding.overs.isEmpty());
    }
}
