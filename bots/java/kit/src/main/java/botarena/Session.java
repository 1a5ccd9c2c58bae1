package botarena;

import arena.v1.Envelope;
import arena.v1.Envelope.AnswerEnvelope;
import arena.v1.Envelope.CallEnvelope;
import arena.v1.Envelope.Ready;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import java.io.ByteArrayOutputStream;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * One seat in one game: the calls of its stream, in order, to one object of the author's.
 *
 * <p>What all games share is read from the same bytes as the game's own call, as an envelope; and
 * the bytes of an answer and of its envelope, one after the other, are one message.
 */
final class Session<B extends GameBot> {
    /** A game that a bot plays, what makes its object for one game, and a class of the author's. */
    record Served<B extends GameBot>(
            Game<B> game, Function<? super GameStart, ? extends B> factory, Class<?> author) {}

    private final Served<B> served;
    private final Ready ready;
    private final Callbacks callbacks;
    private B bot;
    private boolean isOver;

    Session(Served<B> served, Ready ready, BooleanSupplier isCutOff) {
        this.served = served;
        this.ready = ready;
        this.callbacks = new Callbacks(served.author(), isCutOff);
    }

    /** Whether the bot has heard that the game is over. */
    boolean isOver() {
        return isOver;
    }

    /** The answer to a call, if there is one. */
    Optional<byte[]> hear(byte[] bytes) throws Fault {
        try {
            CallEnvelope call = CallEnvelope.parseFrom(bytes);
            Optional<? extends MessageLite> answer = hear(call, bytes);
            if (answer.isEmpty()) {
                return Optional.empty();
            }
            if (!call.hasNumber()) {
                throw Fault.malformed("a question without a number");
            }
            ByteArrayOutputStream sent = new ByteArrayOutputStream();
            sent.writeBytes(
                    AnswerEnvelope.newBuilder().setNumber(call.getNumber()).build().toByteArray());
            sent.writeBytes(answer.get().toByteArray());
            return Optional.of(sent.toByteArray());
        } catch (InvalidProtocolBufferException error) {
            throw Fault.malformed(error.getMessage());
        }
    }

    private Optional<? extends MessageLite> hear(CallEnvelope call, byte[] bytes)
            throws Fault, InvalidProtocolBufferException {
        if (call.hasStart()) {
            begin(read(call.getStart()), bytes);
            // A start that was answered before the stream was opened is not answered again.
            return call.hasPastAnswer()
                    ? Optional.empty()
                    : Optional.of(AnswerEnvelope.newBuilder().setReady(ready).build());
        }
        if (bot == null) {
            throw Fault.notBegun();
        }
        if (!call.hasOver()) {
            return served.game().hear(bot, bytes, callbacks);
        }
        GameOver over = read(call.getOver());
        callbacks.run("gameOver", () -> bot.gameOver(over));
        isOver = true;
        return Optional.empty();
    }

    private void begin(GameStart start, byte[] bytes)
            throws Fault, InvalidProtocolBufferException {
        bot = callbacks.call("the constructor", () -> served.factory().apply(start));
        if (bot == null) {
            String expected = "a " + served.game().bot().getSimpleName();
            throw Fault.wrong("the constructor", null, expected);
        }
        served.game().begin(bot, bytes, callbacks);
    }

    private static GameStart read(Envelope.GameStart start) {
        return new GameStart(
                start.getGameId(),
                start.getGame(),
                start.getSeat(),
                start.getSeats(),
                Game.limit(start.getMoveLimit()),
                start.hasBudget() ? Optional.of(Game.limit(start.getBudget())) : Optional.empty(),
                start.getBotSeed(),
                start.getRulesVersion(),
                start.getBehaviorVersion());
    }

    private static GameOver read(Envelope.GameOver over) {
        return new GameOver(
                over.getResultsList().stream().map(Session::read).toList(),
                Ending.of(over.getEndingValue()),
                over.getReason());
    }

    private static SeatResult read(Envelope.SeatResult seat) {
        return new SeatResult(
                seat.getPlace(),
                seat.getScore(),
                seat.hasFoul() ? Optional.of(FoulKind.of(seat.getFoulValue())) : Optional.empty());
    }
}
