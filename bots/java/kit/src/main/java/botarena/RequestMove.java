package botarena;

/**
 * A question for a move, with the whole position. The array is yours.
 *
 * @param board one a square, 64 of them, row by row from a1: 0 empty, 1 the opponent's disc, 2 your
 *     own
 * @param previous what the opponent did last
 */
public record RequestMove(byte[] board, Previous previous) {
    /**
     * What is on this square, as in {@code board}.
     *
     * @throws IndexOutOfBoundsException if that is not on the board
     */
    public int cell(int row, int column) {
        if (row < 0 || row > 7 || column < 0 || column > 7) {
            throw new IndexOutOfBoundsException("row " + row + ", column " + column);
        }
        return board[8 * row + column];
    }
}
