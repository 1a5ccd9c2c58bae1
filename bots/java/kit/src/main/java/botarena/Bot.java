package botarena;

import arena.v1.Envelope.Ready;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.System.Logger.Level;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.Supplier;
import sun.misc.Signal;

/** A bot: its name, what it says of itself, the games that it plays. */
public final class Bot {
    private static final System.Logger LOG = System.getLogger("botarena");
    /** Where a bot listens when BOT_LISTEN is not set. */
    private static final String STANDARD = "tcp:127.0.0.1:50051";

    private static final long MIB = 1 << 20;

    private final Ready.Builder ready = Ready.newBuilder().setMaxGames(1);
    private final Map<String, Session.Served<?>> games = new LinkedHashMap<>();
    private volatile boolean wasServed;

    /** A bot that plays nothing yet. Name and version are shown to people. */
    public Bot(String name, String version) {
        ready.setBot(Objects.requireNonNull(name)).setVersion(Objects.requireNonNull(version));
        Runtime.getRuntime().addShutdownHook(new Thread(this::sayNeverServed));
    }

    /**
     * How many games one process plays at once, each on a thread of its own; 1 by default. Further
     * games wait for a second and are then refused.
     *
     * @throws IllegalArgumentException if that is less than 1
     */
    public Bot maxGames(int games) {
        if (games < 1) {
            throw new IllegalArgumentException("maxGames is " + games + ": expected 1 or more");
        }
        ready.setMaxGames(games);
        return this;
    }

    /**
     * The bot can be resumed mid-game: it has the callbacks {@code resumed…}, or remembers nothing
     * between the others.
     */
    public Bot canResume() {
        ready.setCanResume(true);
        return this;
    }

    /** Plays Connect Four: {@code make} makes the object for one game. */
    public Bot connectFour(Function<? super GameStart, ? extends ConnectFourBot> make) {
        return plays(new ConnectFourGame(), make, make.getClass());
    }

    /** The same with a constructor that takes nothing. */
    public Bot connectFour(Supplier<? extends ConnectFourBot> make) {
        return plays(new ConnectFourGame(), start -> make.get(), make.getClass());
    }

    /** Plays Mahjong: {@code make} makes the object for one round. */
    public Bot mahjong(Function<? super GameStart, ? extends MahjongBot> make) {
        return plays(new MahjongGame(), make, make.getClass());
    }

    /** The same with a constructor that takes nothing. */
    public Bot mahjong(Supplier<? extends MahjongBot> make) {
        return plays(new MahjongGame(), start -> make.get(), make.getClass());
    }

    /** Plays Reversal Big Two: {@code make} makes the object for one game. */
    public Bot bigTwo(Function<? super GameStart, ? extends BigTwoBot> make) {
        return plays(new BigTwoGame(), make, make.getClass());
    }

    /** The same with a constructor that takes nothing. */
    public Bot bigTwo(Supplier<? extends BigTwoBot> make) {
        return plays(new BigTwoGame(), start -> make.get(), make.getClass());
    }

    /** Plays Othello: {@code make} makes the object for one game. */
    public Bot othello(Function<? super GameStart, ? extends OthelloBot> make) {
        return plays(new OthelloGame(), make, make.getClass());
    }

    /** The same with a constructor that takes nothing. */
    public Bot othello(Supplier<? extends OthelloBot> make) {
        return plays(new OthelloGame(), start -> make.get(), make.getClass());
    }

    /**
     * Serves until SIGTERM or SIGINT, and then ends the process. It listens at the address in the
     * environment variable {@code BOT_LISTEN}: {@code unix:PATH} or {@code tcp:HOST:PORT}. Where
     * {@code BOT_JOIN} names an arena ({@code https://HOST:PORT}) it joins that instead, with the
     * token in the file {@code BOT_TOKEN_FILE}. Exits with 1 and a line on standard error where it
     * can't.
     */
    public void main() {
        printUtf8();
        try {
            if (System.getenv("BOT_JOIN") == null) {
                listen(System.getenv().getOrDefault("BOT_LISTEN", STANDARD));
            } else {
                join();
            }
        } catch (ListenException error) {
            System.err.println(error.getMessage());
            System.exit(1);
        } catch (InterruptedException interrupted) {
            // Whoever interrupts the main thread wants it to end too.
        }
        System.exit(0);
    }

    private void listen(String address) throws ListenException, InterruptedException {
        CountDownLatch stop = new CountDownLatch(1);
        onSignal(stop::countDown);
        checkHeap();
        try (Serving serving = serve(address)) {
            System.out.println("listening on " + serving.address());
            System.out.flush();
            stop.await();
        }
    }

    private void join() throws ListenException, InterruptedException {
        wasServed = true;
        Joining joining = new Joining(games, ready.build());
        onSignal(joining::stop);
        checkHeap();
        joining.join();
    }

    private static void onSignal(Runnable stop) {
        // The compiler warns of this class, but a shutdown hook could not end with 0, and would run
        // beside those of the author.
        for (String name : new String[] {"TERM", "INT"}) {
            Signal.handle(new Signal(name), signal -> stop.run());
        }
    }

    /**
     * Serves at this address until the returned object is closed.
     *
     * @throws ListenException if it can't listen there
     */
    public Serving serve(String address) throws ListenException {
        wasServed = true;
        return Serving.start(address, games.values(), ready.build());
    }

    private <B extends GameBot> Bot plays(
            Game<B> game, Function<? super GameStart, ? extends B> make, Class<?> author) {
        games.put(game.service(), new Session.Served<>(game, make, author));
        return this;
    }

    private void sayNeverServed() {
        if (!wasServed) {
            System.err.println(
                    "Bot(\"" + ready.getBot() + "\") was never served: call its main()");
        }
    }

    /** What a bot prints is UTF-8 also where the locale is not set, as in containers. */
    private static void printUtf8() {
        if (!Charset.defaultCharset().equals(StandardCharsets.UTF_8)) {
            System.setOut(utf8(FileDescriptor.out));
            System.setErr(utf8(FileDescriptor.err));
        }
    }

    private static PrintStream utf8(FileDescriptor to) {
        return new PrintStream(new FileOutputStream(to), true, StandardCharsets.UTF_8);
    }

    /** Says so where the heap may become larger than the bot's memory: it would be killed. */
    private static void checkHeap() {
        String told = System.getenv("BOT_MEMORY_LIMIT");
        long heap = Runtime.getRuntime().maxMemory();
        if (told == null || !told.matches("[0-9]{1,18}") || heap <= Long.parseLong(told) / 4 * 3) {
            return;
        }
        long limit = Long.parseLong(told);
        LOG.log(
                Level.WARNING,
                "the heap may grow to {0} MiB, but all memory is limited to {1} MiB: start it with"
                        + " java -Xmx{2}m",
                Long.toString(heap / MIB),
                Long.toString(limit / MIB),
                Long.toString(limit / 2 / MIB));
    }
}
