import botarena.Bot;
import botarena.ConnectFourBot;
import botarena.GetPoint;
import botarena.Point;
import java.util.Comparator;
import java.util.List;

/** {{name}}: a bot for Connect Four, one object for each game. */
class MyBot implements ConnectFourBot {
    /**
     * One of the points that can be played. Your idea goes here: this takes the one nearest to the
     * middle.
     */
    static Point choose(List<Point> points, int columns) {
        return points.stream()
                .min(Comparator.comparingInt(point -> Math.abs(2 * point.y() - (columns - 1))))
                .orElseThrow();
    }

    @Override
    public Point getPoint(GetPoint ask) {
        // `ask` has the whole position, as in ask.cell(x, y), and the time limit.
        Point point = choose(ask.points(), ask.n());
        System.out.println("I play " + point); // goes into the bot's log
        return point;
    }

    public static void main(String[] args) {
        new Bot("{{name}}", "1").connectFour(MyBot::new).main();
    }
}
