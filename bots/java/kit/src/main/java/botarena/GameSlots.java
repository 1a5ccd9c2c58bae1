package botarena;

import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The games that run at the same time: no more than the bot says, and what a stop waits for. */
final class GameSlots {
    /**
     * How long a new game waits for one to end: a referee that plays one game after another may
     * open the next before we have seen the last one end.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final int mostGames;
    private final Queue<CompletableFuture<Void>> waiting = new ArrayDeque<>();
    private int games;
    private int streams;
    private boolean isClosed;

    GameSlots(int mostGames) {
        this.mostGames = mostGames;
    }

    /** A slot, as soon as there is one; completed exceptionally where there is none soon. */
    synchronized CompletableFuture<Void> enter() {
        streams++;
        CompletableFuture<Void> slot = new CompletableFuture<>();
        if (isClosed) {
            slot.completeExceptionally(stopping().asRuntimeException());
        } else if (games < mostGames) {
            games++;
            slot.complete(null);
        } else {
            waiting.removeIf(CompletableFuture::isDone);
            waiting.add(slot);
            slot.orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        }
        return slot;
    }

    /** A game is over, so another one may have its slot. */
    void leave() {
        CompletableFuture<Void> next;
        do {
            synchronized (this) {
                next = waiting.poll();
                if (next == null) {
                    games--;
                    return;
                }
            }
            // Completed without the lock: it begins the next game.
        } while (!next.complete(null));
    }

    /** The stream of a game has ended. */
    synchronized void end() {
        streams--;
        notifyAll();
    }

    /** Refuses every new game from now on. */
    void close() {
        synchronized (this) {
            isClosed = true;
        }
        for (CompletableFuture<Void> slot; (slot = poll()) != null; ) {
            slot.completeExceptionally(stopping().asRuntimeException());
        }
    }

    /** Waits until every stream has ended, but no longer than this. */
    synchronized void awaitIdle(Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        for (long left; streams > 0 && (left = end - System.nanoTime()) > 0; ) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** The status of a game that gets no slot for this reason. */
    Status refusal(Throwable reason) {
        Status status = Status.fromThrowable(reason);
        return status.getCode() == Status.Code.UNAVAILABLE
                ? status
                : Status.RESOURCE_EXHAUSTED.withDescription(
                        "max_games is " + mostGames + ", and as many games are running");
    }

    private synchronized CompletableFuture<Void> poll() {
        return waiting.poll();
    }

    private static Status stopping() {
        return Status.UNAVAILABLE.withDescription("the bot is stopping");
    }
}
