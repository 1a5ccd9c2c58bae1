package botarena;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import games.connect_four.v1.ConnectFour;
import games.connect_four.v1.ConnectFour.ConnectFourAnswer;
import games.connect_four.v1.ConnectFour.ConnectFourCall;
import java.util.Optional;

/** The messages of Connect Four. */
final class ConnectFourGame implements Game<ConnectFourBot> {
    @Override
    public String service() {
        return "games.connect_four.v1.ConnectFourBot";
    }

    @Override
    public FileDescriptor file() {
        return ConnectFour.getDescriptor();
    }

    @Override
    public Class<ConnectFourBot> bot() {
        return ConnectFourBot.class;
    }

    @Override
    public void begin(ConnectFourBot bot, byte[] call, Callbacks callbacks) {}

    @Override
    public Optional<MessageLite> hear(ConnectFourBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        ConnectFourCall call = ConnectFourCall.parseFrom(bytes);
        if (!call.hasGetPoint()) {
            return Optional.empty();
        }
        GetPoint ask = read(call);
        if (call.hasPastAnswer()) {
            ConnectFour.Point past = call.getPastAnswer().getPoint();
            callbacks.run(
                    "resumedPoint",
                    () -> bot.resumedPoint(ask, new Point(past.getX(), past.getY())));
            return Optional.empty();
        }
        return Optional.of(callbacks.call("getPoint", () -> answer(bot.getPoint(ask))));
    }

    private static GetPoint read(ConnectFourCall call) throws Fault {
        ConnectFour.GetPoint it = call.getGetPoint();
        int m = it.getM();
        int n = it.getN();
        if (it.getTop().size() != n || it.getBoard().size() != m * n) {
            throw Fault.malformed(
                    it.getBoard().size() + " cells on a board of " + m + " rows, " + n + " columns");
        }
        return new GetPoint(
                m,
                n,
                it.getTop().toByteArray(),
                it.getBoard().toByteArray(),
                point(it.getLastX(), it.getLastY()),
                point(it.getNoX(), it.getNoY()),
                Game.limit(call.getLimit()));
    }

    private static MessageLite answer(Point point) throws Fault {
        if (point == null) {
            throw Fault.wrong("getPoint", null, "a Point");
        }
        // Set also where they are 0: the referee sees the difference.
        ConnectFour.Point.Builder sent =
                ConnectFour.Point.newBuilder().setX(point.x()).setY(point.y());
        return ConnectFourAnswer.newBuilder().setPoint(sent).build();
    }

    private static Optional<Point> point(int x, int y) {
        return x < 0 || y < 0 ? Optional.empty() : Optional.of(new Point(x, y));
    }
}
