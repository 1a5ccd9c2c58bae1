package botarena;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A question for a point, with the whole position. The arrays are yours.
 *
 * @param m rows
 * @param n columns
 * @param top one a column: the next stone in it lands in row {@code top[y] - 1}; 0 is full
 * @param board one a cell, m * n of them, row by row: 0 empty, 1 the opponent's stone, 2 your own;
 *     the forbidden cell is 0
 * @param last where the opponent played last
 * @param forbidden the cell on which no stone may lie
 * @param limit the time that the answer may take
 */
public record GetPoint(
        int m,
        int n,
        byte[] top,
        byte[] board,
        Optional<Point> last,
        Optional<Point> forbidden,
        Duration limit) {
    /**
     * What is at row {@code x} and column {@code y}, as in {@code board}.
     *
     * @throws IndexOutOfBoundsException if that is not on the board
     */
    public int cell(int x, int y) {
        if (x < 0 || x >= m || y < 0 || y >= n) {
            throw new IndexOutOfBoundsException(
                    "(" + x + ", " + y + ") is not on a board of " + m + " rows, " + n + " columns");
        }
        return board[x * n + y];
    }

    /**
     * Where a stone dropped into this column lands; nowhere if it is full.
     *
     * @throws IndexOutOfBoundsException if there is no such column
     */
    public Optional<Point> landing(int column) {
        return top[column] == 0
                ? Optional.empty()
                : Optional.of(new Point(top[column] - 1, column));
    }

    /** Every point that can be played, from the left. */
    public List<Point> points() {
        return IntStream.range(0, n).mapToObj(this::landing).flatMap(Optional::stream).toList();
    }
}
