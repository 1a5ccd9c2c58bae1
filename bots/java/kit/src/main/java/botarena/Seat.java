package botarena;

import arena.v1.LobbyOuterClass.Failure;
import arena.v1.LobbyOuterClass.FromSeat;
import arena.v1.LobbyOuterClass.Take;
import arena.v1.LobbyOuterClass.ToSeat;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * A seat in one game of an arena that the bot has joined. To the game's {@link Stream} it is a call
 * like one of a referee that has dialled us; its messages go by streams that we open, one after the
 * other. Everything happens on the arena's loop.
 */
final class Seat extends ServerCall<byte[], byte[]> {
    /** How long to try to come back to a game; the arena waits for less. */
    private static final Duration BACK_WITHIN = Duration.ofSeconds(35);

    /** How long the last messages of a game may take. */
    private static final Duration AFTER_GAME = Duration.ofSeconds(5);

    /** Stands after the last call. */
    private static final byte[] END = new byte[0];

    private static final MethodDescriptor<FromSeat, ToSeat> PLAY =
            Services.method(
                    "arena.v1.Lobby/Play",
                    ProtoUtils.marshaller(FromSeat.getDefaultInstance()),
                    ProtoUtils.marshaller(ToSeat.getDefaultInstance()));

    private final Joining arena;
    private final ByteString key;
    private final MethodDescriptor<byte[], byte[]> method;
    private Listener<byte[]> listener;
    // How many calls were heard, those that wait for the bot, and how many it asks for.
    private long heard;
    private final Queue<byte[]> calls = new ArrayDeque<>();
    private int wanted;
    private ByteString answer = ByteString.EMPTY;
    // How the bot has ended its game.
    private Status status;
    private ClientCall<FromSeat, ToSeat> stream;
    // The arena was heard by the stream; and when it was lost.
    private boolean wasHeard;
    private long since = System.nanoTime();
    private boolean isOver;
    private volatile boolean isCancelled;

    Seat(Joining arena, ByteString key, MethodDescriptor<byte[], byte[]> method) {
        this.arena = arena;
        this.key = key;
        this.method = method;
    }

    void begin(ServerCallHandler<byte[], byte[]> handler) {
        listener = handler.startCall(this, new Metadata());
        arena.loop.execute(this::sit);
    }

    /** The arena is reached by another connection. */
    void move() {
        leave();
        sit();
    }

    /** Opens a stream, unless one is open or the arena is not reached. */
    void sit() {
        ManagedChannel channel = arena.channel();
        if (isOver || stream != null) {
            return;
        } else if (System.nanoTime() - since > BACK_WITHIN.toNanos()) {
            end();
            return;
        } else if (channel == null) {
            return;
        }
        ClientCall<FromSeat, ToSeat> opened = channel.newCall(PLAY, CallOptions.DEFAULT);
        stream = opened;
        opened.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(ToSeat message) {
                        if (stream == opened) {
                            hear(message);
                        }
                    }

                    @Override
                    public void onClose(Status ended, Metadata trailers) {
                        if (stream == opened) {
                            close(ended);
                        }
                    }
                },
                arena.headers());
        opened.request(Integer.MAX_VALUE);
        Take.Builder take = Take.newBuilder().setKey(key).setCalls(heard).setAnswer(answer);
        opened.sendMessage(FromSeat.newBuilder().setTake(take).build());
        if (status != null) {
            fail();
        }
    }

    private void leave() {
        if (stream != null) {
            stream.cancel("another stream is opened", null);
            stream = null;
            since = wasHeard ? System.nanoTime() : since;
            wasHeard = false;
        }
    }

    private void hear(ToSeat message) {
        wasHeard = true;
        if (message.hasCall()) {
            heard++;
            calls.add(message.getCall().toByteArray());
            deliver();
        } else if (status == null) {
            // It only keeps the stream open.
            stream.sendMessage(FromSeat.getDefaultInstance());
        }
    }

    private void deliver() {
        while (!calls.isEmpty() && (wanted > 0 || calls.peek() == END)) {
            byte[] call = calls.remove();
            if (call == END) {
                listener.onHalfClose();
            } else {
                wanted--;
                listener.onMessage(call);
            }
        }
    }

    /** The stream has ended: with the game, or it broke. */
    private void close(Status ended) {
        leave();
        boolean isLast =
                switch (ended.getCode()) {
                    case OK, NOT_FOUND, ABORTED -> true;
                    default -> Joining.REFUSED.contains(ended.getCode());
                };
        if (isLast) {
            end();
        }
    }

    /** The arena has no further call. */
    private void end() {
        leave();
        isOver = true;
        if (status != null) {
            complete();
            return;
        }
        calls.add(END);
        deliver();
        after(
                () -> {
                    if (status == null) {
                        isCancelled = true;
                        arena.remove(key);
                        listener.onCancel();
                    }
                });
    }

    private void complete() {
        arena.remove(key);
        listener.onComplete();
    }

    private void fail() {
        String words = status.getDescription() == null ? "" : status.getDescription();
        Failure.Builder failure =
                Failure.newBuilder().setCode(status.getCode().value()).setMessage(words);
        ClientCall<FromSeat, ToSeat> last = stream;
        last.sendMessage(FromSeat.newBuilder().setFailure(failure).build());
        last.halfClose();
        // Whoever drops a stream may lose its last message.
        after(
                () -> {
                    if (stream == last) {
                        end();
                    }
                });
    }

    private void after(Runnable work) {
        arena.loop.schedule(work, AFTER_GAME.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void request(int count) {
        arena.loop.execute(
                () -> {
                    wanted += count;
                    deliver();
                });
    }

    @Override
    public void sendHeaders(Metadata headers) {
        // The arena has them from the stream.
    }

    @Override
    public void sendMessage(byte[] message) {
        arena.loop.execute(
                () -> {
                    answer = UnsafeByteOperations.unsafeWrap(message);
                    if (stream != null) {
                        stream.sendMessage(FromSeat.newBuilder().setAnswer(answer).build());
                    }
                });
    }

    @Override
    public void close(Status ended, Metadata trailers) {
        arena.loop.execute(
                () -> {
                    if (isCancelled) {
                        return;
                    }
                    status = ended;
                    if (isOver) {
                        complete();
                    } else if (stream != null) {
                        fail();
                    }
                });
    }

    @Override
    public boolean isCancelled() {
        return isCancelled;
    }

    @Override
    public MethodDescriptor<byte[], byte[]> getMethodDescriptor() {
        return method;
    }
}
