package author;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.Envelope.GameOver;
import arena.v1.Envelope.GameStart;
import arena.v1.LobbyOuterClass.Failure;
import arena.v1.LobbyOuterClass.FromBot;
import arena.v1.LobbyOuterClass.FromSeat;
import arena.v1.LobbyOuterClass.Ping;
import arena.v1.LobbyOuterClass.Superseded;
import arena.v1.LobbyOuterClass.Take;
import arena.v1.LobbyOuterClass.ToBot;
import arena.v1.LobbyOuterClass.ToSeat;
import com.google.protobuf.ByteString;
import games.connect_four.v1.ConnectFour.ConnectFourAnswer;
import games.connect_four.v1.ConnectFour.ConnectFourCall;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bots as processes that join an arena, whose lobby is the test. */
final class JoiningTest {
    private static final String TOKEN = "arena_" + "5".repeat(64);

    @TempDir private Path folder;

    private Subprocess join(String url, String token) throws IOException {
        Map<String, String> environment = new HashMap<>(Map.of("BOT_JOIN", url));
        if (token != null) {
            Path file = Files.writeString(folder.resolve("token"), "# mine\n" + token + "\n");
            environment.put("BOT_TOKEN_FILE", file.toString());
        }
        return new Subprocess(folder, environment);
    }

    private Subprocess join(Lobby lobby) throws IOException {
        return join(lobby.url(), TOKEN);
    }

    private static ToSeat start(String id) {
        GameStart.Builder start = GameStart.newBuilder().setGameId(id).setSeats(2);
        return Lobby.call(ConnectFourCall.newBuilder().setNumber(0).setStart(start));
    }

    private static ToSeat over(String reason) {
        GameOver.Builder over = GameOver.newBuilder().setReason(reason);
        return Lobby.call(ConnectFourCall.newBuilder().setOver(over));
    }

    private static Take take(long calls, ByteString answer) {
        return Take.newBuilder().setKey(Lobby.KEY).setCalls(calls).setAnswer(answer).build();
    }

    @Test
    void aBotJoinsAndPlaysAndStopsInOrder() throws Exception {
        try (Lobby lobby = new Lobby();
                Subprocess bot = join(lobby)) {
            var control = lobby.bot();
            assertEquals("attending at " + lobby.url() + " as me", bot.line());
            control.down.onNext(ToBot.newBuilder().setPing(Ping.newBuilder().setNumber(7)).build());
            assertEquals(7, control.next(FromBot.class).getPong().getNumber());
            control.down.onNext(Lobby.invitation());
            var seat = lobby.seat();
            assertEquals(take(0, ByteString.EMPTY), seat.take());
            seat.down.onNext(start("a"));
            ConnectFourAnswer ready = seat.answer();
            assertTrue(ready.hasNumber());
            assertEquals("subject", ready.getReady().getBot());
            seat.down.onNext(ToSeat.getDefaultInstance());
            assertEquals(FromSeat.getDefaultInstance(), seat.next(FromSeat.class));
            // Those that run go on.
            bot.signal("TERM");
            assertTrue(control.next(FromBot.class).hasDrain());
            seat.down.onNext(Lobby.call(SessionTest.getPoint(1)));
            assertEquals(1, seat.answer().getNumber());
            seat.down.onNext(over("four"));
            seat.down.onCompleted();
            assertEquals(
                    List.of("game a begins: 棋", "over: four"), List.of(bot.line(), bot.line()));
            // It ends its side, and waits for the end of ours.
            assertEquals(Status.Code.OK, control.next(Status.class).getCode());
            control.down.onCompleted();
            assertEquals(0, bot.end());
            assertEquals("", bot.errors());
            assertEquals(Set.of("Bearer " + TOKEN), lobby.callers);
        }
    }

    @Test
    void aBotThatWasCutOffComesBackToItsGame() throws Exception {
        try (Lobby lobby = new Lobby();
                Subprocess bot = join(lobby)) {
            var control = lobby.bot();
            control.down.onNext(Lobby.invitation());
            var seat = lobby.seat();
            seat.take();
            seat.down.onNext(start("a"));
            ByteString ready = seat.next(FromSeat.class).getAnswer();
            seat.down.onError(Status.UNAVAILABLE.asException());
            // It waits for the bot, which knows that already.
            control.down.onNext(Lobby.invitation());
            var back = lobby.seat();
            assertEquals(take(1, ready), back.take());
            back.down.onNext(Lobby.call(SessionTest.getPoint(1)));
            ByteString point = back.next(FromSeat.class).getAnswer();
            assertEquals(1, ConnectFourAnswer.parseFrom(point).getNumber());
            // Nothing is heard on the control stream any more, so that the bot opens another.
            lobby.bot();
            var moved = lobby.seat();
            assertEquals(take(2, point), moved.take());
            assertEquals(Status.Code.CANCELLED, back.next(Status.class).getCode());
            moved.down.onNext(Lobby.call(SessionTest.getPoint(2)));
            assertEquals(2, moved.answer().getNumber());
            assertTrue(bot.errors().endsWith(": nothing is heard of it; it is tried again\n"));
        }
    }

    @Test
    void anExceptionEndsItsGame() throws Exception {
        try (Lobby lobby = new Lobby();
                Subprocess bot = join(lobby)) {
            lobby.bot().down.onNext(Lobby.invitation());
            var seat = lobby.seat();
            seat.take();
            seat.down.onNext(start("throw"));
            seat.answer();
            seat.down.onNext(Lobby.call(SessionTest.getPoint(1)));
            Failure failure = seat.next(FromSeat.class).getFailure();
            assertEquals(Status.Code.INTERNAL.value(), failure.getCode());
            assertTrue(failure.getMessage().startsWith("Subject.java:"), failure.getMessage());
            assertEquals(Status.Code.OK, seat.next(Status.class).getCode());
        }
    }

    private void isNotLetIn(ToBot message, Status status, String words) throws Exception {
        try (Lobby lobby = new Lobby();
                Subprocess bot = join(lobby)) {
            var control = lobby.bot();
            if (status == null) {
                control.down.onNext(message);
            } else {
                control.down.onError(status.asException());
            }
            assertEquals(1, bot.end());
            assertTrue(bot.errors().startsWith("could not join: "), bot.errors());
            assertTrue(bot.errors().contains(words), bot.errors());
        }
    }

    @Test
    void aBotThatIsNotLetInSaysWhy() throws Exception {
        Status unknown = Status.UNAUTHENTICATED.withDescription("this token is not known here");
        isNotLetIn(null, unknown, "this token is not known here");
        isNotLetIn(null, Status.UNIMPLEMENTED, "this arena has no lobby");
        ToBot superseded =
                ToBot.newBuilder().setSuperseded(Superseded.getDefaultInstance()).build();
        isNotLetIn(superseded, null, "another process has joined with the same token");
    }

    @Test
    void whatCanNotBeJoinedIsNamed() throws Exception {
        for (String[] wrong :
                new String[][] {
                    {"arena.example:5", TOKEN, "expected https://HOST:PORT"},
                    {"https://arena.example:65536", TOKEN, "expected https://HOST:PORT"},
                    {"http://127.arena.example:5", TOKEN, "it has no TLS"},
                    {"https://arena.example:5", "secret", "expected one token"},
                    {"https://arena.example:5", null, "BOT_TOKEN_FILE must name"},
                }) {
            try (Subprocess bot = join(wrong[0], wrong[1])) {
                assertEquals(1, bot.end());
                assertTrue(bot.errors().contains(wrong[2]), bot.errors());
                assertFalse(bot.errors().contains("secret"), bot.errors());
            }
        }
    }
}
