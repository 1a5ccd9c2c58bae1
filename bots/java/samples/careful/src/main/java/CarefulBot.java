import botarena.Bot;
import botarena.ConnectFourBot;
import botarena.GetPoint;
import botarena.Point;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Connect Four: wins where it can, denies a win where it must, and else stays near the centre without
 * giving a win away. It remembers nothing, and plays the same moves as the samples in other
 * languages.
 */
public final class CarefulBot implements ConnectFourBot {
    private static final int THEIRS = 1;
    private static final int MINE = 2;
    private static final int IN_A_ROW = 4;

    @Override
    public Point getPoint(GetPoint ask) {
        List<Point> points = ask.points();
        for (int side : new int[] {MINE, THEIRS}) {
            for (Point point : points) {
                if (wins(ask, point, side)) {
                    return point;
                }
            }
        }
        List<Point> safe = points.stream().filter(point -> !helps(ask, point)).toList();
        // The first of equals is the leftmost.
        Comparator<Point> fromCentre =
                Comparator.comparingInt(point -> Math.abs(2 * point.y() - (ask.n() - 1)));
        return (safe.isEmpty() ? points : safe).stream().min(fromCentre).orElseThrow();
    }

    /** Whether a stone of this side at this point makes a line of four or more. */
    private static boolean wins(GetPoint ask, Point at, int side) {
        for (int[] line : new int[][] {{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
            int length =
                    run(ask, at, side, line[0], line[1]) + 1 + run(ask, at, side, -line[0], -line[1]);
            if (length >= IN_A_ROW) {
                return true;
            }
        }
        return false;
    }

    /** How many stones of this side follow on this point in this direction. */
    private static int run(GetPoint ask, Point from, int side, int dx, int dy) {
        int length = 0;
        int x = from.x() + dx;
        int y = from.y() + dy;
        while (x >= 0 && x < ask.m() && y >= 0 && y < ask.n() && ask.cell(x, y) == side) {
            length++;
            x += dx;
            y += dy;
        }
        return length;
    }

    /** Whether the opponent could win on top of a stone of mine there. */
    private static boolean helps(GetPoint ask, Point point) {
        Point above = new Point(point.x() - 1, point.y());
        if (ask.forbidden().equals(Optional.of(above))) {
            above = new Point(point.x() - 2, point.y());
        }
        return above.x() >= 0 && wins(ask, above, THEIRS);
    }

    public static void main(String[] args) {
        new Bot("careful", "1.0").maxGames(16).canResume().connectFour(CarefulBot::new).main();
    }
}
