package author;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.Envelope;
import botarena.Bot;
import botarena.ListenException;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bots as processes: where they listen, what they print, how they stop. */
final class ProcessTest {
    private static final Duration GRACE = Duration.ofSeconds(5);

    @TempDir private Path folder;

    private Subprocess start(String listen, Map<String, String> more, String... arguments)
            throws IOException {
        Map<String, String> environment = new HashMap<>(more);
        environment.put("BOT_LISTEN", listen);
        return new Subprocess(folder, environment, arguments);
    }

    private Subprocess start(String listen) throws IOException {
        return start(listen, Map.of());
    }

    private Path socket() {
        return folder.resolve("a b%41.sock");
    }

    @Test
    void itListensOnASocketAndRemovesOneThatIsStale() throws Exception {
        try (ServerSocketChannel stale = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stale.bind(UnixDomainSocketAddress.of(socket()));
        }
        assertTrue(Files.exists(socket()));
        try (Subprocess bot = start("unix:" + socket())) {
            assertEquals("listening on unix:" + socket(), bot.line());
            try (Referee referee = Referee.dial("unix:" + socket())) {
                referee.connectFour().begin("a");
            }
            assertEquals("game a begins: 棋", bot.line());
            bot.signal("TERM");
            assertEquals(0, bot.end());
            assertEquals("", bot.errors());
            assertFalse(Files.exists(socket()));
        }
    }

    @Test
    void itSaysWhichPortItHasChosen() throws Exception {
        try (Subprocess bot = start("tcp:127.0.0.1:0")) {
            String line = bot.line();
            assertTrue(line.matches("listening on tcp:127\\.0\\.0\\.1:[1-9][0-9]*"), line);
            String address = line.substring("listening on ".length());
            try (Referee referee = Referee.dial(address)) {
                referee.connectFour().begin("a");
            }
            var taken = assertThrows(ListenException.class, () -> new Bot("b", "1").serve(address));
            assertEquals(
                    "could not listen on " + address + ": Address already in use",
                    taken.getMessage());
        }
    }

    @Test
    void aRelativePathIsAllowed() throws Exception {
        try (Subprocess bot = start("unix:bot")) {
            assertEquals("listening on unix:bot", bot.line());
            assertTrue(Files.exists(folder.resolve("bot")));
        }
    }

    @Test
    void aWrongAddressIsExitCode1AndALine() throws Exception {
        try (Subprocess bot = start("localhost")) {
            assertEquals(1, bot.end());
            assertEquals(
                    "BOT_LISTEN is \"localhost\": expected unix:PATH or tcp:HOST:PORT\n",
                    bot.errors());
        }
        for (String listen :
                List.of("", "unix:", "unix", "127.0.0.1:1", "tcp:h", "tcp::1", "tcp:h:", "tcp:h:x",
                        "tcp:h:65536", "tcp:::1:1", "udp:h:1", " tcp:h:1", "tcp:h:1\n")) {
            var wrong = assertThrows(ListenException.class, () -> new Bot("b", "1").serve(listen));
            assertEquals(
                    "BOT_LISTEN is \"" + listen + "\": expected unix:PATH or tcp:HOST:PORT",
                    wrong.getMessage());
        }
    }

    @Test
    void whatIsNoSocketIsLeftAlone() throws Exception {
        Path precious = Files.writeString(folder.resolve("precious"), "text");
        var wrong =
                assertThrows(
                        ListenException.class, () -> new Bot("b", "1").serve("unix:" + precious));
        assertTrue(wrong.getMessage().startsWith("could not listen on unix:" + precious + ": "));
        assertEquals("text", Files.readString(precious));
    }

    @Test
    void aBotThatIsNeverServedSaysSo() throws Exception {
        try (Subprocess bot = start("unix:bot", Map.of(), "never")) {
            assertEquals(0, bot.end());
            assertEquals(
                    "Bot(\"subject\") was never served: call its main()\n", bot.errors());
        }
    }

    @Test
    void aHeapThatIsLargerThanTheMemoryIsNamed() throws Exception {
        String limit = Long.toString(64L << 20);
        try (Subprocess bot = start("unix:bot", Map.of("BOT_MEMORY_LIMIT", limit))) {
            bot.line();
            assertTrue(bot.errors().contains("start it with java -Xmx32m"), bot.errors());
        }
        Map<String, String> fits =
                Map.of("BOT_MEMORY_LIMIT", limit, "JDK_JAVA_OPTIONS", "-Xmx32m");
        try (Subprocess bot = start("unix:bot", fits)) {
            bot.line();
            assertFalse(bot.errors().contains("memory"), bot.errors());
        }
    }

    @Test
    void anExceptionIsInTheLogWithTheAuthorsLineAndNoneOfOurs() throws Exception {
        try (Subprocess bot = start("unix:" + socket())) {
            bot.line();
            try (Referee referee = Referee.dial("unix:" + socket())) {
                var stream = referee.connectFour();
                stream.begin("throw");
                stream.tell(SessionTest.getPoint(1).build());
                String told = stream.end().getDescription();
                assertTrue(told.startsWith("Subject.java:"), told);
                bot.signal("TERM");
                bot.end();
                String place = told.substring(0, told.indexOf(": "));
                List<String> lines = bot.errors().lines().toList();
                // The last one is empty.
                assertEquals(5, lines.size(), lines::toString);
                assertTrue(lines.get(1).endsWith(place + ": exception in getPoint"));
                assertEquals("java.lang.IllegalStateException: no column has room", lines.get(2));
                assertTrue(lines.get(3).matches("\tat author.Subject.getPoint\\(" + place + "\\)"));
            }
        }
    }

    @Test
    void anIdleBotEndsAtOnceWhoeverWatchesIt() throws Exception {
        for (String signal : List.of("TERM", "INT")) {
            try (Subprocess bot = start("unix:" + socket())) {
                bot.line();
                try (Referee referee = Referee.dial("unix:" + socket())) {
                    Iterator<HealthCheckResponse> watched =
                            HealthGrpc.newBlockingStub(referee.channel)
                                    .watch(HealthCheckRequest.getDefaultInstance());
                    assertEquals(ServingStatus.SERVING, watched.next().getStatus());
                    long began = System.nanoTime();
                    bot.signal(signal);
                    assertEquals(0, bot.end());
                    assertTrue(System.nanoTime() - began < GRACE.minusSeconds(1).toNanos());
                    assertEquals("", bot.errors());
                    assertFalse(Files.exists(socket()));
                }
            }
        }
    }

    @Test
    void aGameGoesOnAfterSigtermAndNoneBegins() throws Exception {
        try (Subprocess bot = start("unix:" + socket())) {
            bot.line();
            try (Referee referee = Referee.dial("unix:" + socket())) {
                Iterator<HealthCheckResponse> watched =
                        HealthGrpc.newBlockingStub(referee.channel)
                                .watch(HealthCheckRequest.getDefaultInstance());
                watched.next();
                var stream = referee.connectFour();
                stream.begin("a");
                bot.signal("TERM");
                assertEquals(ServingStatus.NOT_SERVING, watched.next().getStatus());
                var other = referee.connectFour();
                other.tell(other.start("b").build());
                assertEquals(Status.Code.UNAVAILABLE, other.end().getCode());
                assertEquals(1, stream.ask(SessionTest.getPoint(1).build()).getNumber());
                Envelope.GameOver.Builder over = Envelope.GameOver.newBuilder().setReason("four");
                stream.tell(stream.call("over", over).build());
                assertTrue(stream.close().isOk());
            }
            assertEquals(0, bot.end());
            assertEquals(
                    List.of("game a begins: 棋", "over: four"), List.of(bot.line(), bot.line()));
        }
    }

    @Test
    void aGameThatThinksForEverIsCutOff() throws Exception {
        try (Subprocess bot = start("unix:" + socket())) {
            bot.line();
            try (Referee referee = Referee.dial("unix:" + socket())) {
                var stream = referee.connectFour();
                stream.begin("spin");
                stream.tell(SessionTest.getPoint(1).build());
                long began = System.nanoTime();
                bot.signal("TERM");
                assertEquals(0, bot.end());
                assertTrue(System.nanoTime() - began > GRACE.minusSeconds(1).toNanos());
            }
            assertEquals("", bot.errors());
            assertFalse(Files.exists(socket()));
        }
    }
}
