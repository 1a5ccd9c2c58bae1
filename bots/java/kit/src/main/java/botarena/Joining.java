package botarena;

import arena.v1.Envelope.Ready;
import arena.v1.LobbyOuterClass.Drain;
import arena.v1.LobbyOuterClass.FromBot;
import arena.v1.LobbyOuterClass.Hello;
import arena.v1.LobbyOuterClass.Invitation;
import arena.v1.LobbyOuterClass.Pong;
import arena.v1.LobbyOuterClass.ToBot;
import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.grpc.protobuf.ProtoUtils;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Joining an arena instead of listening: a bot that nobody can dial dials the arena's lobby ({@code
 * arena.v1.Lobby}), and is invited to games there.
 */
final class Joining {
    /** The statuses with which the arena does not let a bot in, and will not later. */
    static final Set<Status.Code> REFUSED =
            Set.of(
                    Status.Code.UNAUTHENTICATED,
                    Status.Code.PERMISSION_DENIED,
                    Status.Code.INVALID_ARGUMENT);

    /** The arena sends a ping every two seconds. After this time without one its stream is dead. */
    private static final Duration SILENT = Duration.ofSeconds(6);

    private static final Duration OPENS_WITHIN = Duration.ofSeconds(10);
    private static final Duration LAST_MESSAGES = Duration.ofSeconds(5);
    // The pause before the arena is dialled again: at first, and at most.
    private static final long FIRST_PAUSE_MS = 500;
    private static final long LONGEST_PAUSE_MS = 2000;

    private static final Pattern ADDRESS =
            Pattern.compile("(https?)://(\\[[0-9a-fA-F:.]+\\]|[0-9a-zA-Z.-]+):([0-9]{1,5})/?");
    private static final Pattern THIS_MACHINE =
            Pattern.compile("localhost|\\[::1\\]|127(\\.[0-9]{1,3}){3}");
    private static final int MOST_PORTS = 1 << 16;
    private static final Pattern TOKEN = Pattern.compile("arena_[0-9a-fA-F]{64}");
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
    private static final MethodDescriptor<FromBot, ToBot> ATTEND =
            Services.method(
                    "arena.v1.Lobby/Attend",
                    ProtoUtils.marshaller(FromBot.getDefaultInstance()),
                    ProtoUtils.marshaller(ToBot.getDefaultInstance()));

    /** What is heard when the bot was asked to stop. */
    private static final Object STOPPED = new Object();

    /** Everything of a seat happens here. */
    final EventLoopGroup loop = Serving.newLoop();

    private final Map<String, Session.Served<?>> games;
    private final Ready ready;
    private final GameSlots slots;
    private final String address;
    private final String host;
    private final int port;
    private final String token;
    private final SslContext tls;
    private final Map<ByteString, Seat> seats = new ConcurrentHashMap<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    // Messages of the arena, and at last a Status or STOPPED.
    private volatile BlockingQueue<Object> heard = new LinkedBlockingQueue<>();
    // That of the last control stream; and the same while that is open.
    private ManagedChannel last;
    private volatile ManagedChannel channel;

    /** The arena that {@code BOT_JOIN} names, with what the variables beside it say. */
    Joining(Map<String, Session.Served<?>> games, Ready ready) throws ListenException {
        this.games = games;
        this.ready = ready;
        this.slots = new GameSlots(ready.getMaxGames());
        this.address = System.getenv("BOT_JOIN");
        Matcher found = ADDRESS.matcher(address);
        if (!found.matches() || Integer.parseInt(found.group(3)) >= MOST_PORTS) {
            throw wrong("expected https://HOST:PORT or http://HOST:PORT");
        }
        this.host = found.group(2);
        this.port = Integer.parseInt(found.group(3));
        boolean isSecure = found.group(1).equals("https");
        if (!isSecure && !THIS_MACHINE.matcher(host).matches()) {
            throw wrong("it has no TLS, and whoever is between could read the token: use https://");
        }
        this.token = readToken(System.getenv("BOT_TOKEN_FILE"));
        this.tls = isSecure ? readTls(System.getenv("BOT_CA")) : null;
    }

    private String readToken(String file) throws ListenException {
        if (file == null) {
            throw wrong("BOT_TOKEN_FILE must name the file with the token that you were given");
        }
        try {
            List<String> tokens =
                    Files.readString(Path.of(file))
                            .lines()
                            .map(String::strip)
                            .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                            .toList();
            if (tokens.size() != 1 || !TOKEN.matcher(tokens.get(0)).matches()) {
                throw wrong(file + ": expected one token: arena_ and 64 hexadecimal digits");
            }
            return tokens.get(0);
        } catch (IOException error) {
            throw wrong("could not read the token file " + file + ": " + error);
        }
    }

    private SslContext readTls(String file) throws ListenException {
        try {
            // Java's own: a bot's jar has none of netty's libraries.
            SslContextBuilder builder =
                    GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK);
            return (file == null ? builder : builder.trustManager(new File(file))).build();
        } catch (IOException | IllegalArgumentException error) {
            Throwable why = error.getCause() == null ? error : error.getCause();
            throw wrong("could not read BOT_CA " + file + ": " + why.getMessage());
        }
    }

    private ListenException wrong(String why) {
        return new ListenException("could not join: BOT_JOIN is \"" + address + "\": " + why);
    }

    /** The same once the games are over that run. */
    private ListenException refused(String why) throws InterruptedException {
        slots.awaitIdle(Serving.GRACE);
        return new ListenException("could not join: " + address + ": " + why);
    }

    /** Takes no new game, gives those that run 5 seconds, and lets {@link #join} end. */
    void stop() {
        stopped.countDown();
        heard.add(STOPPED);
    }

    /** Attends until it is told to stop, and comes back wherever it is cut off. */
    void join() throws ListenException, InterruptedException {
        WarmUp.run(games.values());
        loop.scheduleWithFixedDelay(
                () -> seats.values().forEach(Seat::sit),
                FIRST_PAUSE_MS,
                FIRST_PAUSE_MS,
                TimeUnit.MILLISECONDS);
        String told = "";
        long pause = FIRST_PAUSE_MS;
        long began = System.nanoTime();
        for (String why; (why = attend()) != null; began = System.nanoTime()) {
            if (!why.equals(told)) {
                System.err.println(address + ": " + why + "; it is tried again");
                told = why;
            }
            if (System.nanoTime() - began > TimeUnit.MILLISECONDS.toNanos(LONGEST_PAUSE_MS)) {
                pause = FIRST_PAUSE_MS;
            }
            stopped.await(pause, TimeUnit.MILLISECONDS);
            pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
        }
    }

    /** One control stream to its end. Gives why it has ended, or null if the bot was stopped. */
    private String attend() throws ListenException, InterruptedException {
        BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
        heard = arrived;
        if (stopped.getCount() == 0) {
            slots.awaitIdle(Serving.GRACE);
            return null;
        }
        // One of its own each time: a connection that is dead is not found again.
        ManagedChannel opened = dial();
        ClientCall<FromBot, ToBot> call = opened.newCall(ATTEND, CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(ToBot message) {
                        arrived.add(message);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        arrived.add(status);
                    }
                },
                headers());
        call.request(Integer.MAX_VALUE);
        Hello.Builder hello =
                Hello.newBuilder().addAllServices(games.keySet()).setProgram("bot-arena (Java)");
        call.sendMessage(FromBot.newBuilder().setHello(hello).build());
        try {
            return hear(arrived, call, opened);
        } finally {
            call.cancel("it has ended", null);
            // Games go on by streams that are open; none is opened before it is found again.
            channel = null;
            if (opened != last) {
                opened.shutdownNow();
            }
        }
    }

    private String hear(
            BlockingQueue<Object> arrived, ClientCall<FromBot, ToBot> call, ManagedChannel opened)
            throws ListenException, InterruptedException {
        Duration patience = OPENS_WITHIN;
        while (true) {
            Object next = arrived.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (next == null) {
                return "nothing is heard of it";
            } else if (next == STOPPED) {
                call.sendMessage(FromBot.newBuilder().setDrain(Drain.getDefaultInstance()).build());
                slots.awaitIdle(Serving.GRACE);
                call.halfClose();
                // Whoever drops a stream may lose its last message.
                long end = System.nanoTime() + LAST_MESSAGES.toNanos();
                while (next != null && !(next instanceof Status)) {
                    next = arrived.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                }
                return null;
            } else if (next instanceof Status status) {
                return ended(status);
            }
            patience = SILENT;
            ToBot message = (ToBot) next;
            switch (message.getMessageCase()) {
                case GREETING -> {
                    System.out.println(
                            "attending at " + address + " as " + message.getGreeting().getName());
                    System.out.flush();
                    move(opened);
                }
                case PING -> {
                    Pong.Builder pong = Pong.newBuilder().setNumber(message.getPing().getNumber());
                    call.sendMessage(FromBot.newBuilder().setPong(pong).build());
                }
                case INVITATION -> take(message.getInvitation());
                case SUPERSEDED ->
                        throw refused(
                                "another process has joined with the same token, and this one ends;"
                                        + " each process needs a token of its own");
                default -> {
                    // The arena stops, and the stream ends soon.
                }
            }
        }
    }

    private String ended(Status status) throws ListenException, InterruptedException {
        if (status.isOk()) {
            return "it has ended the stream";
        } else if (status.getCode() == Status.Code.UNIMPLEMENTED) {
            throw wrong("this arena has no lobby: `arena serve --lobby FILE` opens it");
        } else if (REFUSED.contains(status.getCode())) {
            throw refused(status.getDescription());
        }
        String words = String.valueOf(status.getDescription());
        Throwable cause = status.getCause();
        return cause == null ? words : words + ": " + cause.getMessage();
    }

    /** An invitation to a game that is played says that it waits for us, which its seat knows. */
    private void take(Invitation invitation) {
        Session.Served<?> served = games.get(invitation.getService());
        if (served != null && !seats.containsKey(invitation.getKey())) {
            Seat seat = new Seat(this, invitation.getKey(), Services.play(served.game()));
            seats.put(invitation.getKey(), seat);
            seat.begin(Stream.handler(served, ready, slots));
        }
    }

    /** Every game goes on by this connection. */
    private void move(ManagedChannel opened) {
        ManagedChannel old = last;
        last = opened;
        channel = opened;
        loop.execute(
                () -> {
                    seats.values().forEach(Seat::move);
                    if (old != null) {
                        old.shutdownNow();
                    }
                });
    }

    /** The connection that the arena is reached by, if it is. */
    ManagedChannel channel() {
        return channel;
    }

    /** The game with this key is over. */
    void remove(ByteString key) {
        seats.remove(key);
    }

    /** The headers of a call to the arena. */
    Metadata headers() {
        Metadata headers = new Metadata();
        headers.put(AUTHORIZATION, "Bearer " + token);
        return headers;
    }

    private ManagedChannel dial() {
        NettyChannelBuilder builder =
                NettyChannelBuilder.forAddress(host, port)
                        .channelType(NioSocketChannel.class)
                        .eventLoopGroup(loop)
                        .executor(loop);
        return (tls == null ? builder.usePlaintext() : builder.sslContext(tls)).build();
    }
}
