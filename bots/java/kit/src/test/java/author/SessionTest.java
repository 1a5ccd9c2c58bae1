package author;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import arena.v1.Envelope;
import botarena.Beginning;
import botarena.BigTwoBot;
import botarena.Bot;
import botarena.Card;
import botarena.ConnectFourBot;
import botarena.Ending;
import botarena.FoulKind;
import botarena.GameOver;
import botarena.GameStart;
import botarena.GetPlay;
import botarena.GetPoint;
import botarena.MahjongBot;
import botarena.OthelloBot;
import botarena.Point;
import botarena.Previous;
import botarena.RequestMove;
import botarena.RequestPlay;
import botarena.Round;
import botarena.Scoring;
import botarena.SeatResult;
import botarena.Square;
import botarena.Table;
import botarena.Tile;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import games.big_two.v1.BigTwo;
import games.big_two.v1.BigTwo.BigTwoAnswer;
import games.big_two.v1.BigTwo.BigTwoCall;
import games.connect_four.v1.ConnectFour;
import games.connect_four.v1.ConnectFour.ConnectFourAnswer;
import games.connect_four.v1.ConnectFour.ConnectFourCall;
import games.mahjong.v1.Mahjong;
import games.mahjong.v1.Mahjong.MahjongAnswer;
import games.mahjong.v1.Mahjong.MahjongCall;
import games.othello.v1.Othello;
import games.othello.v1.Othello.OthelloAnswer;
import games.othello.v1.Othello.OthelloCall;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What a bot says on its stream, and which callbacks are called. */
final class SessionTest {
    private static final Duration LIMIT = Duration.ofMillis(1500);
    private static final com.google.protobuf.Duration SENT_LIMIT =
            com.google.protobuf.Duration.newBuilder().setSeconds(1).setNanos(500_000_000).build();

    /** What callbacks were told, in order. */
    private final List<Object> told = Collections.synchronizedList(new ArrayList<>());

    /** Plays the leftmost point. */
    private static class Leftmost implements ConnectFourBot {
        @Override
        public Point getPoint(GetPoint ask) throws Exception {
            return ask.points().get(0);
        }
    }

    /** An empty board of 4 rows and 5 columns. */
    static ConnectFourCall.Builder getPoint(int number) {
        return ConnectFourCall.newBuilder()
                .setNumber(number)
                .setLimit(SENT_LIMIT)
                .setGetPoint(
                        ConnectFour.GetPoint.newBuilder()
                                .setM(4)
                                .setN(5)
                                .setTop(bytes(4, 4, 4, 4, 4))
                                .setBoard(ByteString.copyFrom(new byte[20]))
                                .setLastX(-1)
                                .setLastY(-1)
                                .setNoX(-1)
                                .setNoY(-1));
    }

    static ByteString bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return ByteString.copyFrom(bytes);
    }

    private static Envelope.GameOver.Builder over(String reason) {
        return Envelope.GameOver.newBuilder()
                .setEnding(Envelope.Ending.ENDING_PLAYED)
                .setReason(reason);
    }

    @Test
    void aQuestionIsAnsweredWithItsNumber() throws Exception {
        Bot bot = new Bot("left", "1.5").maxGames(3).canResume().connectFour(Leftmost::new);
        try (Referee referee = Referee.of(bot)) {
            var stream = referee.connectFour();
            ConnectFourAnswer answer = stream.begin("a");
            assertTrue(answer.hasNumber());
            assertEquals(0, answer.getNumber());
            Envelope.Ready ready = answer.getReady();
            assertEquals(
                    List.of("left", "1.5", 3, true),
                    List.of(
                            ready.getBot(),
                            ready.getVersion(),
                            ready.getMaxGames(),
                            ready.getCanResume()));
            for (int number : new int[] {7, 3, (int) 4_000_000_000L}) {
                answer = stream.ask(getPoint(number).build());
                assertEquals(number, answer.getNumber());
                // A row or column of 0 is there.
                assertTrue(answer.getPoint().hasX() && answer.getPoint().hasY());
                assertEquals(3, answer.getPoint().getX());
                assertEquals(0, answer.getPoint().getY());
            }
            assertTrue(stream.close().isOk());
        }
    }

    @Test
    void oneGameAtOnceAndNoResumingUnlessItIsSaid() throws Exception {
        try (Referee referee = Referee.of(new Bot("left", "1").connectFour(Leftmost::new))) {
            Envelope.Ready ready = referee.connectFour().begin("a").getReady();
            assertTrue(ready.hasMaxGames());
            assertEquals(1, ready.getMaxGames());
            assertFalse(ready.getCanResume());
        }
    }

    @Test
    void aGameGetsItsStartAndItsEnd() throws Exception {
        Function<GameStart, ConnectFourBot> make =
                start -> {
                    told.add(start);
                    return new Leftmost() {
                        @Override
                        public void gameOver(GameOver over) {
                            told.add(over);
                        }
                    };
                };
        Envelope.GameStart start =
                Envelope.GameStart.newBuilder()
                        .setGameId("g1")
                        .setGame("connect_four")
                        .setSeat(1)
                        .setSeats(2)
                        .setMoveLimit(SENT_LIMIT)
                        .setBotSeed(-1)
                        .setRulesVersion(3)
                        .setBehaviorVersion(4)
                        .build();
        Envelope.GameOver over =
                over("too late")
                        .setEndingValue(99)
                        .addResults(Envelope.SeatResult.newBuilder().setPlace(1).setScore(1))
                        .addResults(Envelope.SeatResult.newBuilder().setPlace(2).setScore(-1).setFoulValue(13))
                        .addResults(Envelope.SeatResult.newBuilder().setPlace(3).setFoulValue(99))
                        .build();
        try (Referee referee = Referee.of(new Bot("left", "1").connectFour(make))) {
            var stream = referee.connectFour();
            stream.ask(stream.call("start", start.toBuilder(), 0).build());
            stream.tell(stream.call("over", over.toBuilder()).build());
            assertTrue(stream.close().isOk());
        }
        assertEquals(
                List.of(
                        new GameStart("g1", "connect_four", 1, 2, LIMIT, Optional.empty(), -1, 3, 4),
                        new GameOver(
                                List.of(
                                        new SeatResult(1, 1, Optional.empty()),
                                        new SeatResult(2, -1, Optional.of(FoulKind.LATE)),
                                        // A newer referee may know more.
                                        new SeatResult(3, 0, Optional.of(FoulKind.UNKNOWN))),
                                Ending.UNKNOWN,
                                "too late")),
                told);
    }

    @Test
    void everyValueOfTheProtocolHasItsName() {
        assertEquals(
                names(Envelope.FoulKind.values(), "FOUL_KIND_"), names(FoulKind.values(), ""));
        assertEquals(names(Envelope.Ending.values(), "ENDING_"), names(Ending.values(), ""));
        assertEquals(names(BigTwo.Scoring.values(), "SCORING_"), names(Scoring.values(), ""));
        for (Tile tile : Tile.values()) {
            assertEquals("TILE_" + tile.name(), Mahjong.Tile.forNumber(tile.number()).name());
        }
        assertEquals(27, Tile.values().length);
        assertEquals("7b 9d", Tile.B7 + " " + Tile.D9);
        for (Card card : Card.values()) {
            String text =
                    BigTwo.Card.forNumber(card.number())
                            .getValueDescriptor()
                            .getOptions()
                            .getExtension(Envelope.text);
            assertEquals(text, card.toString());
        }
        assertEquals(54, Card.values().length);
        assertEquals(13, Card.JOKER_2.rank());
        assertEquals(3, Card.S2.suit());
        assertThrows(IllegalStateException.class, Card.JOKER_1::suit);
    }

    private static List<String> names(Enum<?>[] values, String prefix) {
        return Arrays.stream(values)
                .map(value -> value.name().replace(prefix, "").replace("UNSPECIFIED", "UNKNOWN"))
                .filter(name -> !name.equals("UNRECOGNIZED"))
                .toList();
    }

    @Test
    void aPointIsAskedForWithTheWholePosition() throws Exception {
        class Listening implements ConnectFourBot {
            @Override
            public Point getPoint(GetPoint ask) {
                told.add(List.of(ask.m(), ask.n(), ask.last(), ask.forbidden(), ask.limit()));
                told.add(ask.points());
                told.add(ask.landing(0));
                told.add(ask.cell(1, 0));
                assertThrows(IndexOutOfBoundsException.class, () -> ask.cell(0, -1));
                return ask.points().get(1);
            }

            @Override
            public void resumedPoint(GetPoint ask, Point point) {
                told.add(point);
            }
        }
        ConnectFourCall.Builder ask =
                ConnectFourCall.newBuilder()
                        .setNumber(1)
                        .setLimit(SENT_LIMIT)
                        .setGetPoint(
                                ConnectFour.GetPoint.newBuilder()
                                        .setM(2)
                                        .setN(3)
                                        .setTop(bytes(0, 1, 2))
                                        .setBoard(bytes(2, 0, 0, 1, 0, 0))
                                        .setLastX(1)
                                        .setLastY(0)
                                        .setNoX(-1)
                                        .setNoY(-1));
        try (Referee referee = Referee.of(new Bot("l", "1").connectFour(Listening::new))) {
            var stream = referee.connectFour();
            // Neither a start nor a question that was answered before is answered again.
            ConnectFourAnswer ready =
                    ConnectFourAnswer.newBuilder()
                            .setReady(Envelope.Ready.getDefaultInstance())
                            .build();
            Message.Builder start = stream.start("a");
            start.setField(start.getDescriptorForType().findFieldByName("past_answer"), ready);
            stream.tell(start.build());
            ConnectFour.Point past = ConnectFour.Point.newBuilder().setX(0).setY(2).build();
            stream.tell(
                    ask.setPastAnswer(ConnectFourAnswer.newBuilder().setPoint(past)).build());
            ConnectFourAnswer answer = stream.ask(ask.clearPastAnswer().setNumber(2).build());
            assertEquals(2, answer.getNumber());
            assertEquals(1, answer.getPoint().getX());
            assertEquals(2, answer.getPoint().getY());
            assertTrue(stream.close().isOk());
        }
        assertEquals(
                List.of(
                        new Point(0, 2),
                        List.of(2, 3, Optional.of(new Point(1, 0)), Optional.empty(), LIMIT),
                        List.of(new Point(0, 1), new Point(1, 2)),
                        Optional.empty(),
                        1),
                told);
    }

    @Test
    void mahjongByItsCallbacks() throws Exception {
        class Listening implements MahjongBot {
            @Override
            public void getRound(Round round) {
                told.add(round);
            }

            @Override
            public void getDraw(Tile tile) {
                told.add("draw " + tile);
            }

            @Override
            public Tile requestDiscard(Duration limit) {
                told.add(limit);
                return Tile.D9;
            }

            @Override
            public void getOppDiscard(Tile tile) {
                told.add("opponent " + tile);
            }

            @Override
            public boolean requestWin(Tile tile, boolean isSelfDraw, Duration limit) {
                told.add("win " + tile + " " + isSelfDraw);
                return isSelfDraw;
            }

            @Override
            public void resumedDiscard(Tile tile) {
                told.add("discarded " + tile);
            }

            @Override
            public void resumedWin(Tile tile, boolean isSelfDraw, boolean win) {
                told.add("claimed " + tile + " " + isSelfDraw + " " + win);
            }
        }
        try (Referee referee = Referee.of(new Bot("l", "1").mahjong(Listening::new))) {
            var stream = referee.mahjong();
            stream.ask(
                    ((MahjongCall.Builder) stream.start("a"))
                            .setRound(
                                    Mahjong.Round.newBuilder()
                                            .setMissingSuitRequired(true)
                                            .setWall(82))
                            .build());
            stream.tell(
                    MahjongCall.newBuilder()
                            .setGetDraw(
                                    Mahjong.GetDraw.newBuilder()
                                            .addTiles(Mahjong.Tile.TILE_C1)
                                            .addTiles(Mahjong.Tile.TILE_B7))
                            .build());
            MahjongCall.Builder discard =
                    MahjongCall.newBuilder()
                            .setNumber(1)
                            .setLimit(SENT_LIMIT)
                            .setRequestDiscard(Mahjong.RequestDiscard.getDefaultInstance());
            stream.tell(
                    discard.clone()
                            .setPastAnswer(
                                    MahjongAnswer.newBuilder().setDiscard(Mahjong.Tile.TILE_B7))
                            .build());
            stream.tell(
                    MahjongCall.newBuilder()
                            .setGetOppDiscard(
                                    Mahjong.GetOppDiscard.newBuilder()
                                            .setTile(Mahjong.Tile.TILE_D1))
                            .build());
            assertEquals(Mahjong.Tile.TILE_D9, stream.ask(discard.build()).getDiscard());
            for (boolean own : new boolean[] {true, false}) {
                MahjongCall.Builder win =
                        MahjongCall.newBuilder()
                                .setNumber(2)
                                .setRequestWin(
                                        Mahjong.RequestWin.newBuilder()
                                                .setWinningTile(Mahjong.Tile.TILE_C1)
                                                .setIsSelfDraw(own));
                stream.tell(
                        win.clone()
                                .setPastAnswer(
                                        MahjongAnswer.newBuilder()
                                                .setWin(Mahjong.Claim.CLAIM_PASS))
                                .build());
                assertEquals(
                        own ? Mahjong.Claim.CLAIM_WIN : Mahjong.Claim.CLAIM_PASS,
                        stream.ask(win.build()).getWin());
            }
            assertTrue(stream.close().isOk());
        }
        assertEquals(
                List.of(
                        new Round(true, 82),
                        "draw 1c",
                        "draw 7b",
                        "discarded 7b",
                        "opponent 1d",
                        LIMIT,
                        "claimed 1c true false",
                        "win 1c true",
                        "claimed 1c false false",
                        "win 1c false"),
                told);
    }

    @Test
    void bigTwoByItsCallbacks() throws Exception {
        class Listening implements BigTwoBot {
            @Override
            public void getTable(Table table) {
                told.add(table);
            }

            @Override
            public void getDeal(List<Card> cards) {
                told.add(cards);
            }

            @Override
            public void getPlay(GetPlay play) {
                told.add(play);
            }

            @Override
            public void getForfeit(int seat, int place) {
                told.add(List.of(seat, place));
            }

            @Override
            public Optional<List<Card>> requestPlay(RequestPlay ask, Duration limit) {
                told.add(ask);
                return ask.toBeat().isPresent() ? Optional.empty() : Optional.of(List.of(Card.C3));
            }

            @Override
            public void resumedPlay(RequestPlay ask, Optional<List<Card>> cards) {
                told.add(cards);
            }
        }
        BigTwo.Play joker =
                BigTwo.Play.newBuilder().addCards(BigTwo.Card.CARD_JOKER_1).build();
        BigTwo.Pass pass = BigTwo.Pass.getDefaultInstance();
        try (Referee referee = Referee.of(new Bot("l", "1").bigTwo(Listening::new))) {
            var stream = referee.bigTwo();
            stream.ask(
                    ((BigTwoCall.Builder) stream.start("a"))
                            .setTable(
                                    BigTwo.Table.newBuilder()
                                            .setScoringValue(99)
                                            .setReversal(true)
                                            .addAllCardsLeft(List.of(14, 14, 13, 13)))
                            .setGetDeal(
                                    BigTwo.GetDeal.newBuilder()
                                            .addCards(BigTwo.Card.CARD_TEN_OF_HEARTS)
                                            .addCards(BigTwo.Card.CARD_JOKER_2))
                            .build());
            BigTwo.GetPlay played =
                    BigTwo.GetPlay.newBuilder()
                            .setSeat(3)
                            .setPlay(joker)
                            .setReversedAfter(true)
                            .setPlace(1)
                            .build();
            BigTwo.GetPlay passed =
                    BigTwo.GetPlay.newBuilder().setSeat(2).setPass(pass).setCardsLeft(5).build();
            stream.tell(BigTwoCall.newBuilder().setGetPlay(played).build());
            stream.tell(BigTwoCall.newBuilder().setGetPlay(passed).build());
            stream.tell(
                    BigTwoCall.newBuilder()
                            .setForfeit(Envelope.Forfeit.newBuilder().setSeat(2).setPlace(4))
                            .build());
            BigTwoCall.Builder lead =
                    BigTwoCall.newBuilder()
                            .setNumber(1)
                            .setRequestPlay(
                                    BigTwo.RequestPlay.newBuilder()
                                            .setMustIncludeThreeOfClubs(true));
            BigTwoCall.Builder follow =
                    BigTwoCall.newBuilder()
                            .setNumber(2)
                            .setRequestPlay(
                                    BigTwo.RequestPlay.newBuilder()
                                            .setToBeat(joker)
                                            .setReversed(true));
            stream.tell(
                    lead.clone().setPastAnswer(BigTwoAnswer.newBuilder().setPlay(joker)).build());
            stream.tell(
                    follow.clone().setPastAnswer(BigTwoAnswer.newBuilder().setPass(pass)).build());
            assertEquals(
                    List.of(BigTwo.Card.CARD_THREE_OF_CLUBS),
                    stream.ask(lead.build()).getPlay().getCardsList());
            assertTrue(stream.ask(follow.build()).hasPass());
            assertTrue(stream.close().isOk());
        }
        Optional<List<Card>> jokers = Optional.of(List.of(Card.JOKER_1));
        assertEquals(
                List.of(
                        new Table(Scoring.UNKNOWN, true, List.of(14, 14, 13, 13)),
                        List.of(Card.H10, Card.JOKER_2),
                        new GetPlay(3, jokers, 0, true, Optional.of(1)),
                        new GetPlay(2, Optional.empty(), 5, false, Optional.empty()),
                        List.of(2, 4),
                        jokers,
                        Optional.empty(),
                        new RequestPlay(Optional.empty(), false, true),
                        new RequestPlay(jokers, true, false)),
                told);
    }

    @Test
    void othelloByItsCallbacks() throws Exception {
        byte[] board = new byte[64];
        board[9] = 2;
        class Listening implements OthelloBot {
            @Override
            public void getBeginning(Beginning beginning) {
                assertArrayEquals(board, beginning.board());
                told.add(List.of(beginning.turn(), beginning.previous()));
            }

            @Override
            public Square requestMove(RequestMove ask, Duration limit) {
                told.add(List.of(ask.cell(1, 1), ask.previous(), limit));
                return new Square(0, 3);
            }

            @Override
            public void resumedMove(RequestMove ask, Square square) {
                told.add(List.of(ask.previous(), square.toString()));
            }
        }
        Othello.Square there = Othello.Square.newBuilder().setRow(0).setColumn(7).build();
        try (Referee referee = Referee.of(new Bot("l", "1").othello(Listening::new))) {
            var stream = referee.othello();
            stream.ask(
                    ((OthelloCall.Builder) stream.start("a"))
                            .setBeginning(
                                    Othello.Beginning.newBuilder()
                                            .setBoard(ByteString.copyFrom(board))
                                            .setSideToMove(Othello.Side.SIDE_WHITE))
                            .build());
            OthelloCall.Builder ask =
                    OthelloCall.newBuilder()
                            .setNumber(1)
                            .setLimit(SENT_LIMIT)
                            .setRequestMove(
                                    Othello.RequestMove.newBuilder()
                                            .setBoard(ByteString.copyFrom(board))
                                            .setPrevious(
                                                    Othello.Previous.newBuilder()
                                                            .setSquare(there)));
            stream.tell(
                    ask.setPastAnswer(OthelloAnswer.newBuilder().setSquare(there)).build());
            ask.clearPastAnswer()
                    .getRequestMoveBuilder()
                    .getPreviousBuilder()
                    .setPass(Othello.Pass.getDefaultInstance());
            OthelloAnswer answer = stream.ask(ask.build());
            assertTrue(answer.getSquare().hasRow() && answer.getSquare().hasColumn());
            assertEquals(3, answer.getSquare().getColumn());
            assertTrue(stream.close().isOk());
        }
        assertEquals(
                List.of(
                        List.of(1, new Previous.None()),
                        List.of(new Square(0, 7), "h1"),
                        List.of(2, new Previous.Pass(), LIMIT)),
                told);
    }

    @Test
    void whatIsUnknownIsNotAnswered() throws Exception {
        try (Referee referee = Referee.of(new Bot("left", "1").connectFour(Leftmost::new))) {
            var stream = referee.connectFour();
            stream.begin("a");
            UnknownFieldSet unknown =
                    UnknownFieldSet.newBuilder()
                            .addField(
                                    99,
                                    UnknownFieldSet.Field.newBuilder()
                                            .addLengthDelimited(ByteString.copyFromUtf8("hi"))
                                            .build())
                            .build();
            ConnectFourCall.Builder call = ConnectFourCall.newBuilder();
            stream.tell(call.build());
            stream.tell(call.setUnknownFields(unknown).build());
            stream.tell(call.setNumber(5).build());
            stream.tell(
                    call.clone().setForfeit(Envelope.Forfeit.newBuilder().setSeat(1)).build());
            ConnectFourCall known = getPoint(6).setUnknownFields(unknown).build();
            assertEquals(6, stream.ask(known).getNumber());
            assertTrue(stream.close().isOk());
        }
    }

    @Test
    void aStreamThatMakesNoSenseIsRefused() throws Exception {
        Bot bot = new Bot("left", "1").connectFour(Leftmost::new);
        try (Referee referee = Referee.of(bot)) {
            var early = referee.connectFour();
            early.tell(getPoint(1).build());
            assertEquals(Status.Code.FAILED_PRECONDITION, early.end().getCode());
            for (ConnectFourCall wrong :
                    List.of(
                            getPoint(1).clearNumber().build(),
                            ConnectFourCall.newBuilder()
                                    .setNumber(1)
                                    .setGetPoint(ConnectFour.GetPoint.newBuilder().setM(3).setN(3))
                                    .build())) {
                var stream = referee.connectFour();
                stream.begin("a");
                stream.tell(wrong);
                Status status = stream.end();
                assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
                assertTrue(status.getDescription().startsWith("not a call of this game: "));
            }
        }
    }

    /** What the referee is told where this is thrown. */
    private static String thrown(Supplier<ConnectFourBot> make) throws Exception {
        Function<GameStart, ConnectFourBot> some =
                start -> start.gameId().equals("other") ? new Leftmost() : make.get();
        Bot bot = new Bot("throw", "1").maxGames(2).connectFour(some);
        try (Referee referee = Referee.of(bot)) {
            var other = referee.connectFour();
            other.begin("other");
            var stream = referee.connectFour();
            stream.tell(stream.start("a").build());
            stream.tell(getPoint(1).build());
            Status status = stream.ended();
            assertEquals(Status.Code.INTERNAL, status.getCode());
            assertEquals(1, other.ask(getPoint(1).build()).getNumber());
            return status.getDescription();
        }
    }

    private static String here(int linesAbove) {
        StackTraceElement caller =
                StackWalker.getInstance()
                        .walk(frames -> frames.skip(1).findFirst().orElseThrow())
                        .toStackTraceElement();
        return "SessionTest.java:" + (caller.getLineNumber() - linesAbove) + ": exception in ";
    }

    private static ConnectFourBot throwing(Throwable thrown) {
        return ask -> {
            thrown.setStackTrace(new Throwable().getStackTrace());
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (Exception) thrown;
        };
    }

    @Test
    void anExceptionIsToldWithTheAuthorsOwnLineFirst() throws Exception {
        String words = thrown(() -> ask -> List.of(new Point(0, 0)).get(7));
        String begins = here(1) + "getPoint: ";
        assertEquals(
                begins + "java.lang.IndexOutOfBoundsException: Index: 7 Size: 1",
                words.replaceAll("Index .*", "Index: 7 Size: 1"));
        // Also where the kit has thrown it.
        words = thrown(() -> ask -> new Point(ask.cell(-1, 0), 0));
        begins = here(1) + "getPoint: java.lang.IndexOutOfBoundsException: (-1, 0) is not on a board";
        assertTrue(words.startsWith(begins), words);
    }

    @Test
    void whatIsThrownEndsItsGameInItsOwnWords() throws Exception {
        assertTrue(
                thrown(() -> throwing(new StackOverflowError()))
                        .endsWith("exception in getPoint: java.lang.StackOverflowError"));
        assertTrue(
                thrown(() -> throwing(new java.io.IOException("列 🎲\n")))
                        .endsWith("exception in getPoint: java.io.IOException: 列 🎲\n"));
        String words = thrown(() -> throwing(new IllegalStateException("棋".repeat(2000))));
        assertEquals(500, words.length());
        words = thrown(() -> throwing(new ExceptionInInitializerError(new RuntimeException("oh"))));
        assertTrue(words.endsWith("ExceptionInInitializerError: java.lang.RuntimeException: oh"), words);
        RuntimeException mute =
                new RuntimeException() {
                    private static final long serialVersionUID = 1;

                    @Override
                    public String toString() {
                        throw new IllegalStateException("no");
                    }
                };
        words = thrown(() -> throwing(mute));
        assertTrue(words.contains("exception in getPoint: author.SessionTest$"), words);
        words =
                thrown(
                        () -> {
                            throw new IllegalStateException("no weights.bin");
                        });
        assertTrue(
                words.endsWith("exception in the constructor: java.lang.IllegalStateException: no weights.bin"),
                words);
    }

    @Test
    void aWrongAnswerIsToldWithWhatWasExpected() throws Exception {
        assertEquals("getPoint returned null: expected a Point", thrown(() -> ask -> null));
        assertEquals(
                "the constructor returned null: expected a ConnectFourBot", thrown(() -> null));
        for (List<Card> cards : List.of(List.<Card>of(), List.of(Card.C3, Card.S9, Card.C3))) {
            BigTwoBot plays = new Plays(Optional.of(cards));
            try (Referee referee = Referee.of(new Bot("b", "1").bigTwo(() -> plays))) {
                var stream = referee.bigTwo();
                stream.begin("a");
                stream.tell(stream.call("request_play", BigTwo.RequestPlay.newBuilder(), 1).build());
                assertEquals(
                        "requestPlay returned "
                                + cards
                                + ": expected Cards, each once, or Optional.empty() to pass",
                        stream.end().getDescription());
            }
        }
        for (Square square : List.of(new Square(8, 0), new Square(0, -1))) {
            OthelloBot bot = (ask, limit) -> square;
            try (Referee referee = Referee.of(new Bot("o", "1").othello(() -> bot))) {
                var stream = referee.othello();
                stream.begin("a");
                Othello.RequestMove.Builder ask =
                        Othello.RequestMove.newBuilder().setBoard(ByteString.copyFrom(new byte[64]));
                stream.tell(stream.call("request_move", ask, 1).build());
                assertEquals(
                        "requestMove returned "
                                + square
                                + ": expected a Square with a row and a column of 0 to 7",
                        stream.end().getDescription());
            }
        }
        assertThrows(IllegalArgumentException.class, () -> new Bot("none", "1").maxGames(0));
    }

    private record Plays(Optional<List<Card>> cards) implements BigTwoBot {
        @Override
        public void getDeal(List<Card> cards) {}

        @Override
        public void getPlay(GetPlay play) {}

        @Override
        public Optional<List<Card>> requestPlay(RequestPlay ask, Duration limit) {
            return cards;
        }
    }
}
