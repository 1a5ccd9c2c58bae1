package botarena;

import arena.v1.Envelope.Ready;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The stream of one game. gRPC calls it on an event loop, where nothing of it blocks; the callbacks
 * run on a thread of the game's own, which is interrupted when the game is cut off.
 */
final class Stream<B extends GameBot> extends ServerCall.Listener<byte[]> {
    private final ServerCall<byte[], byte[]> call;
    private final GameSlots slots;
    private final Session<B> session;
    private final CompletableFuture<Void> slot;
    private final AtomicBoolean hasLeft = new AtomicBoolean();
    // It has no thread before the first call. A daemon: a game that never stops thinking does not
    // keep the process.
    private final ExecutorService thread =
            new ThreadPoolExecutor(
                    1,
                    1,
                    0,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    work -> {
                        Thread made = new Thread(work, "game");
                        made.setDaemon(true);
                        return made;
                    },
                    new ThreadPoolExecutor.DiscardPolicy());

    private Stream(
            Session.Served<B> served,
            Ready ready,
            GameSlots slots,
            ServerCall<byte[], byte[]> call) {
        this.call = call;
        this.slots = slots;
        this.session = new Session<>(served, ready, call::isCancelled);
        this.slot = slots.enter();
    }

    /** Serves the streams of a game. */
    static <B extends GameBot> ServerCallHandler<byte[], byte[]> handler(
            Session.Served<B> served, Ready ready, GameSlots slots) {
        return (call, headers) -> {
            Stream<B> stream = new Stream<>(served, ready, slots, call);
            stream.slot.whenComplete((none, refused) -> stream.begin(refused));
            return stream;
        };
    }

    private void begin(Throwable refused) {
        if (refused == null) {
            call.sendHeaders(new Metadata());
            call.request(1);
        } else if (!call.isCancelled()) {
            call.close(slots.refusal(refused), new Metadata());
        }
    }

    @Override
    public void onMessage(byte[] message) {
        thread.execute(() -> hear(message));
    }

    @Override
    public void onHalfClose() {
        thread.execute(() -> end(Status.OK));
    }

    @Override
    public void onCancel() {
        // The slot first: the callback may think on.
        leave();
        thread.shutdownNow();
        slots.end();
    }

    @Override
    public void onComplete() {
        thread.shutdown();
        slots.end();
    }

    private void hear(byte[] message) {
        try {
            session.hear(message).ifPresent(this::send);
            if (session.isOver()) {
                leave();
            }
            call.request(1);
        } catch (Fault fault) {
            end(fault.status());
        } catch (RuntimeException | Error error) {
            System.getLogger("botarena").log(Level.ERROR, "an error of the kit", error);
            end(Status.INTERNAL.withDescription("an error of the kit: " + error));
        }
    }

    private void send(byte[] answer) {
        if (!call.isCancelled()) {
            call.sendMessage(answer);
        }
    }

    private void end(Status status) {
        // Before the status is sent: the referee may open its next stream as soon as it has that.
        leave();
        if (!call.isCancelled()) {
            call.close(status, new Metadata());
        }
        thread.shutdown();
    }

    private void leave() {
        // A slot that was never got is only not waited for any more.
        boolean wasWaiting = slot.cancel(false) || slot.isCompletedExceptionally();
        if (!wasWaiting && hasLeft.compareAndSet(false, true)) {
            slots.leave();
        }
    }
}
