package botarena;

/**
 * A cell.
 *
 * @param x the row, from 0 at the top
 * @param y the column, from 0 at the left
 */
public record Point(int x, int y) {
    @Override
    public String toString() {
        return "(" + x + ", " + y + ")";
    }
}
