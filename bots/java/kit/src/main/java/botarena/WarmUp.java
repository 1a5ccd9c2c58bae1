package botarena;

import arena.v1.Envelope.GameOver;
import arena.v1.Envelope.GameStart;
import arena.v1.Envelope.Ready;
import arena.v1.Envelope.SeatResult;
import com.google.protobuf.ByteString;
import games.big_two.v1.BigTwo;
import games.big_two.v1.BigTwo.BigTwoCall;
import games.connect_four.v1.ConnectFour;
import games.connect_four.v1.ConnectFour.ConnectFourCall;
import games.mahjong.v1.Mahjong;
import games.mahjong.v1.Mahjong.MahjongCall;
import games.othello.v1.Othello;
import games.othello.v1.Othello.OthelloCall;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.local.LocalAddress;
import io.grpc.netty.shaded.io.netty.channel.local.LocalChannel;
import io.grpc.netty.shaded.io.netty.channel.local.LocalIoHandler;
import io.grpc.netty.shaded.io.netty.channel.local.LocalServerChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.System.Logger.Level;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Plays short games within the process before it listens, none of them with the author's objects:
 * so classes are loaded and the code that every game runs is compiled before a clock runs. Later
 * there may be no time for it: a bot can be held still while others move, and its compiler with it.
 *
 * <p>As a program it does so with all games and ends. That is for an archive of classes, with which
 * Java starts nearly twice as fast: {@code java -XX:ArchiveClassesAtExit=bot.jsa -cp bot.jar
 * botarena.WarmUp}, and then {@code java -XX:SharedArchiveFile=bot.jsa -jar bot.jar}.
 */
public final class WarmUp {
    private static final int GAMES = 5;
    private static final Duration LONGEST = Duration.ofSeconds(2);

    private static final int QUIET_MS = 100;

    private WarmUp() {}

    /** Serves each game for a moment, and plays it as before a bot listens. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("warm-up");
        Path socket = folder.resolve("socket");
        Bot bot =
                new Bot("warm-up", "1")
                        .bigTwo(IdleBigTwo::new)
                        .connectFour(() -> idleConnectFour())
                        .mahjong(IdleMahjong::new)
                        .othello(() -> idleOthello());
        try (Serving serving = bot.serve("unix:" + socket)) {
            // A connection, so that what accepts one is loaded too.
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            Thread.sleep(QUIET_MS);
        } finally {
            Files.deleteIfExists(socket);
            Files.delete(folder);
        }
    }

    static void run(Collection<Session.Served<?>> games) {
        long end = System.nanoTime() + LONGEST.toNanos();
        EventLoopGroup loop =
                new MultiThreadIoEventLoopGroup(
                        1, new DefaultThreadFactory("warm-up", true), LocalIoHandler.newFactory());
        LocalAddress address = new LocalAddress("warm-up");
        Ready ready = Ready.newBuilder().setMaxGames(1).build();
        GameSlots slots = new GameSlots(1);
        NettyServerBuilder builder =
                NettyServerBuilder.forAddress(address)
                        .channelType(LocalServerChannel.class)
                        .bossEventLoopGroup(loop)
                        .workerEventLoopGroup(loop)
                        .directExecutor();
        for (Session.Served<?> served : games) {
            builder.addService(Services.of(idle(served.game()), ready, slots));
        }
        Server server = builder.build();
        ManagedChannel channel =
                NettyChannelBuilder.forAddress(address)
                        .channelType(LocalChannel.class)
                        .eventLoopGroup(loop)
                        .usePlaintext()
                        .directExecutor()
                        .build();
        try {
            server.start();
            for (int i = 0; i < GAMES; i++) {
                for (Session.Served<?> served : games) {
                    Status status =
                            play(channel, served.game())
                                    .get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    if (!status.isOk()) {
                        throw status.asRuntimeException();
                    }
                }
            }
        } catch (Exception error) {
            // The bot plays all the same, if more slowly at first.
            System.getLogger("botarena").log(Level.DEBUG, "the warm-up was cut short", error);
        } finally {
            end(channel, server);
            // What closes the connections runs on it: it ends when it has had nothing to do.
            loop.shutdownGracefully(QUIET_MS, LONGEST.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** One side after the other: where both close at once, gRPC logs that a transport has failed. */
    private static void end(ManagedChannel channel, Server server) {
        try {
            channel.shutdownNow().awaitTermination(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
            server.shutdown().awaitTermination(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            server.shutdownNow();
        }
    }

    /** Plays one game, and gives the status with which the bot ends it. */
    private static CompletableFuture<Status> play(ManagedChannel channel, Game<?> game) {
        CompletableFuture<Status> ended = new CompletableFuture<>();
        ClientCall<byte[], byte[]> call =
                channel.newCall(Services.play(game), CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(byte[] answer) {
                        call.request(1);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        ended.complete(status);
                    }
                },
                new Metadata());
        call.request(1);
        calls(game).forEach(call::sendMessage);
        call.halfClose();
        return ended;
    }

    /** A game that is played by an object of the kit's. */
    private static Session.Served<?> idle(Game<?> game) {
        if (game instanceof ConnectFourGame connectFour) {
            return new Session.Served<>(connectFour, start -> idleConnectFour(), WarmUp.class);
        } else if (game instanceof OthelloGame othello) {
            return new Session.Served<>(othello, start -> idleOthello(), WarmUp.class);
        } else if (game instanceof MahjongGame mahjong) {
            return new Session.Served<>(mahjong, start -> new IdleMahjong(), WarmUp.class);
        }
        return new Session.Served<>((BigTwoGame) game, start -> new IdleBigTwo(), WarmUp.class);
    }

    private static ConnectFourBot idleConnectFour() {
        return ask -> ask.points().get(0);
    }

    private static OthelloBot idleOthello() {
        return (ask, limit) -> new Square(0, ask.cell(0, 0));
    }

    private static final class IdleMahjong implements MahjongBot {
        @Override
        public void getDraw(Tile tile) {}

        @Override
        public Tile requestDiscard(Duration limit) {
            return Tile.C1;
        }

        @Override
        public void getOppDiscard(Tile tile) {}

        @Override
        public boolean requestWin(Tile tile, boolean isSelfDraw, Duration limit) {
            return false;
        }
    }

    private static final class IdleBigTwo implements BigTwoBot {
        @Override
        public void getDeal(List<Card> cards) {}

        @Override
        public void getPlay(GetPlay play) {}

        @Override
        public Optional<List<Card>> requestPlay(RequestPlay ask, Duration limit) {
            return ask.toBeat().isEmpty() ? Optional.of(List.of(Card.C3)) : Optional.empty();
        }
    }

    /** A short game with every kind of call. */
    private static List<byte[]> calls(Game<?> game) {
        GameStart start = GameStart.newBuilder().setGameId("warm-up").setSeats(2).build();
        GameOver over =
                GameOver.newBuilder()
                        .setReason("the end")
                        .addResults(SeatResult.newBuilder().setPlace(1))
                        .build();
        if (game instanceof ConnectFourGame) {
            ConnectFour.GetPoint ask =
                    ConnectFour.GetPoint.newBuilder()
                            .setM(1)
                            .setN(1)
                            .setTop(ByteString.copyFrom(new byte[] {1}))
                            .setBoard(ByteString.copyFrom(new byte[1]))
                            .build();
            return List.of(
                    ConnectFourCall.newBuilder().setNumber(0).setStart(start).build().toByteArray(),
                    ConnectFourCall.newBuilder().setNumber(1).setGetPoint(ask).build().toByteArray(),
                    ConnectFourCall.newBuilder().setOver(over).build().toByteArray());
        } else if (game instanceof OthelloGame) {
            ByteString board = ByteString.copyFrom(new byte[64]);
            Othello.Beginning beginning = Othello.Beginning.newBuilder().setBoard(board).build();
            Othello.RequestMove ask = Othello.RequestMove.newBuilder().setBoard(board).build();
            return List.of(
                    OthelloCall.newBuilder()
                            .setNumber(0)
                            .setStart(start)
                            .setBeginning(beginning)
                            .build()
                            .toByteArray(),
                    OthelloCall.newBuilder().setNumber(1).setRequestMove(ask).build().toByteArray(),
                    OthelloCall.newBuilder().setOver(over).build().toByteArray());
        } else if (game instanceof MahjongGame) {
            Mahjong.Tile tile = Mahjong.Tile.TILE_C1;
            return List.of(
                    MahjongCall.newBuilder()
                            .setNumber(0)
                            .setStart(start)
                            .setRound(Mahjong.Round.getDefaultInstance())
                            .build()
                            .toByteArray(),
                    MahjongCall.newBuilder()
                            .setGetDraw(Mahjong.GetDraw.newBuilder().addTiles(tile))
                            .build()
                            .toByteArray(),
                    MahjongCall.newBuilder()
                            .setNumber(1)
                            .setRequestDiscard(Mahjong.RequestDiscard.getDefaultInstance())
                            .build()
                            .toByteArray(),
                    MahjongCall.newBuilder()
                            .setGetOppDiscard(Mahjong.GetOppDiscard.newBuilder().setTile(tile))
                            .build()
                            .toByteArray(),
                    MahjongCall.newBuilder()
                            .setNumber(2)
                            .setRequestWin(Mahjong.RequestWin.newBuilder().setWinningTile(tile))
                            .build()
                            .toByteArray(),
                    MahjongCall.newBuilder().setOver(over).build().toByteArray());
        }
        BigTwo.Play play = BigTwo.Play.newBuilder().addCards(BigTwo.Card.CARD_JOKER_1).build();
        return List.of(
                BigTwoCall.newBuilder()
                        .setNumber(0)
                        .setStart(start)
                        .setTable(BigTwo.Table.getDefaultInstance())
                        .setGetDeal(BigTwo.GetDeal.newBuilder().addAllCards(play.getCardsList()))
                        .build()
                        .toByteArray(),
                BigTwoCall.newBuilder()
                        .setGetPlay(BigTwo.GetPlay.newBuilder().setPlay(play))
                        .build()
                        .toByteArray(),
                BigTwoCall.newBuilder()
                        .setNumber(1)
                        .setRequestPlay(BigTwo.RequestPlay.getDefaultInstance())
                        .build()
                        .toByteArray(),
                BigTwoCall.newBuilder()
                        .setNumber(2)
                        .setRequestPlay(BigTwo.RequestPlay.newBuilder().setToBeat(play))
                        .build()
                        .toByteArray(),
                BigTwoCall.newBuilder().setOver(over).build().toByteArray());
    }
}
