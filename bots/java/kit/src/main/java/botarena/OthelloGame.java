package botarena;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import games.othello.v1.Othello;
import games.othello.v1.Othello.OthelloAnswer;
import games.othello.v1.Othello.OthelloCall;
import java.time.Duration;
import java.util.Optional;

/** The messages of Othello. */
final class OthelloGame implements Game<OthelloBot> {
    private static final int SQUARES = 64;

    @Override
    public String service() {
        return "games.othello.v1.OthelloBot";
    }

    @Override
    public FileDescriptor file() {
        return Othello.getDescriptor();
    }

    @Override
    public Class<OthelloBot> bot() {
        return OthelloBot.class;
    }

    @Override
    public void begin(OthelloBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        OthelloCall call = OthelloCall.parseFrom(bytes);
        if (call.hasBeginning()) {
            Othello.Beginning it = call.getBeginning();
            int turn = it.getSideToMove() == Othello.Side.SIDE_BLACK ? 0 : 1;
            Beginning beginning =
                    new Beginning(board(it.getBoard()), turn, previous(it.getPrevious()));
            callbacks.run("getBeginning", () -> bot.getBeginning(beginning));
        }
    }

    @Override
    public Optional<MessageLite> hear(OthelloBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        OthelloCall call = OthelloCall.parseFrom(bytes);
        if (!call.hasRequestMove()) {
            return Optional.empty();
        }
        Othello.RequestMove it = call.getRequestMove();
        RequestMove ask = new RequestMove(board(it.getBoard()), previous(it.getPrevious()));
        if (call.hasPastAnswer()) {
            Square past = square(call.getPastAnswer().getSquare());
            callbacks.run("resumedMove", () -> bot.resumedMove(ask, past));
            return Optional.empty();
        }
        Duration limit = Game.limit(call.getLimit());
        return Optional.of(
                callbacks.call("requestMove", () -> answer(bot.requestMove(ask, limit))));
    }

    private static MessageLite answer(Square square) throws Fault {
        if (square == null || !square.isOnTheBoard()) {
            throw Fault.wrong(
                    "requestMove", square, "a Square with a row and a column of 0 to 7");
        }
        // Set also where they are 0: the referee sees the difference.
        Othello.Square.Builder sent =
                Othello.Square.newBuilder().setRow(square.row()).setColumn(square.column());
        return OthelloAnswer.newBuilder().setSquare(sent).build();
    }

    private static byte[] board(ByteString board) throws Fault {
        if (board.size() != SQUARES) {
            throw Fault.malformed(board.size() + " squares on a board");
        }
        return board.toByteArray();
    }

    private static Previous previous(Othello.Previous previous) {
        return switch (previous.getPreviousCase()) {
            case SQUARE -> square(previous.getSquare());
            case PASS -> new Previous.Pass();
            default -> new Previous.None();
        };
    }

    private static Square square(Othello.Square square) {
        return new Square(square.getRow(), square.getColumn());
    }
}
