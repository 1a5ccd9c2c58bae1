package botarena;

import arena.v1.Envelope.Ready;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A bot that is being served. */
public final class Serving implements AutoCloseable {
    /** How long games may go on after the bot was asked to stop. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final Duration CLOSING = Duration.ofSeconds(1);

    // Java drops the settings of a logger that nobody holds.
    private static final Logger BOOTSTRAP =
            Logger.getLogger("io.grpc.netty.shaded.io.netty.bootstrap");

    static {
        // It warns at each connection that a Unix socket has no option SO_KEEPALIVE.
        BOOTSTRAP.setLevel(Level.SEVERE);
        // Sockets are Java's own. Netty would unpack a library into the temporary folder, from
        // where it can't be loaded in many containers.
        System.setProperty("io.grpc.netty.shaded.io.netty.transport.noNative", "true");
    }

    private final Address address;
    private final GameSlots slots;
    private final HealthStatusManager health = new HealthStatusManager();
    private final EventLoopGroup loop = newLoop();
    private final Server server;
    private boolean isClosed;

    private Serving(Address address, Collection<Session.Served<?>> games, Ready ready) {
        this.address = address;
        this.slots = new GameSlots(ready.getMaxGames());
        NettyServerBuilder builder = NettyServerBuilder.forAddress(address.socket());
        boolean isUnix = address instanceof Address.Unix;
        builder.channelType(
                isUnix ? NioServerDomainSocketChannel.class : NioServerSocketChannel.class);
        // Nothing blocks the loop: callbacks have threads of their own.
        builder.bossEventLoopGroup(loop).workerEventLoopGroup(loop).directExecutor();
        for (Session.Served<?> served : games) {
            builder.addService(Services.of(served, ready, slots));
            health.setStatus(served.game().service(), ServingStatus.SERVING);
        }
        builder.addService(health.getHealthService());
        reflect(builder);
        this.server = builder.build();
    }

    /** The one thread on which a bot's connections are. */
    static EventLoopGroup newLoop() {
        return new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("arena", true), NioIoHandler.newFactory());
    }

    @SuppressWarnings("deprecation") // Many clients know only v1alpha.
    private static void reflect(ServerBuilder<?> builder) {
        builder.addService(ProtoReflectionServiceV1.newInstance());
        builder.addService(ProtoReflectionService.newInstance());
    }

    static Serving start(String text, Collection<Session.Served<?>> games, Ready ready)
            throws ListenException {
        Address address = Address.parse(text);
        Serving serving = null;
        try {
            address.removeSocket();
            WarmUp.run(games);
            serving = new Serving(address, games, ready);
            serving.server.start();
            return serving;
        } catch (IOException | RuntimeException error) {
            if (serving != null) {
                serving.loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            }
            throw new ListenException("could not listen on " + text + ": " + reason(error), error);
        }
    }

    private static String reason(Throwable error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        return cause instanceof UnresolvedAddressException ? "unknown host" : cause.getMessage();
    }

    /** Where it listens: {@code unix:PATH} or {@code tcp:HOST:PORT} with the real port. */
    public String address() {
        SocketAddress bound = server.getListenSockets().get(0);
        return address.listening(bound);
    }

    /** Takes no new game, gives those that run 5 seconds, and ends. */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        try {
            slots.close();
            health.enterTerminalState();
            server.shutdown();
            slots.awaitIdle(GRACE);
            // A client that watches our health must not keep us.
            server.shutdownNow().awaitTermination(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        } finally {
            loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            try {
                address.removeSocket();
            } catch (IOException gone) {
                // It is in nobody's way: whoever listens there next removes it.
            }
        }
    }
}
