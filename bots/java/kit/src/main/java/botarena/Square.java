package botarena;

/**
 * A square; its index on the board is 8 * row + column.
 *
 * @param row 0 (row 1, at the top) to 7
 * @param column 0 (column a, at the left) to 7
 */
public record Square(int row, int column) implements Previous {
    boolean isOnTheBoard() {
        return row >= 0 && row < 8 && column >= 0 && column < 8;
    }

    /** Its name: {@code d3}. */
    @Override
    public String toString() {
        return isOnTheBoard()
                ? "abcdefgh".charAt(column) + "" + (row + 1)
                : "Square(" + row + ", " + column + ")";
    }
}
