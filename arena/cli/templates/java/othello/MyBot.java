import botarena.Bot;
import botarena.OthelloBot;
import botarena.RequestMove;
import botarena.Square;
import java.time.Duration;

/** {{name}}: a bot for Othello, one object for each game. */
class MyBot implements OthelloBot {
    private static final int OPPONENT = 1;
    private static final int OWN = 2;

    /** A legal move. Your idea goes here: this takes one that turns the most discs. */
    static Square choose(byte[] board) {
        int best = 0;
        for (int index = 0; index < board.length; index++) {
            if (turned(board, index / 8, index % 8) > turned(board, best / 8, best % 8)) {
                best = index;
            }
        }
        return new Square(best / 8, best % 8);
    }

    /** How many discs a move there turns; 0 where it is not legal. */
    private static int turned(byte[] board, int row, int column) {
        if (at(board, row, column) != 0) {
            return 0;
        }
        int count = 0;
        for (int down = -1; down <= 1; down++) {
            for (int right = -1; right <= 1; right++) {
                int steps = 1;
                while (at(board, row + steps * down, column + steps * right) == OPPONENT) {
                    steps++;
                }
                if (at(board, row + steps * down, column + steps * right) == OWN) {
                    count += steps - 1;
                }
            }
        }
        return count;
    }

    private static int at(byte[] board, int row, int column) {
        boolean isOnBoard = row >= 0 && row < 8 && column >= 0 && column < 8;
        return isOnBoard ? board[8 * row + column] : 0;
    }

    @Override
    public Square requestMove(RequestMove ask, Duration limit) {
        Square square = choose(ask.board());
        System.out.println("I play " + square); // goes into the bot's log
        return square;
    }

    public static void main(String[] args) {
        new Bot("{{name}}", "1").othello(MyBot::new).main();
    }
}
