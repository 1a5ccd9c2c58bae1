package botarena;

import java.time.Duration;

/** A bot in one game of Othello. Seat 0 has the black discs and begins. */
@FunctionalInterface
public non-sealed interface OthelloBot extends GameBot {
    /** The position that the game begins with. */
    default void getBeginning(Beginning beginning) throws Exception {}

    /** Where do you place a disc? You are asked only where there is a move. */
    Square requestMove(RequestMove ask, Duration limit) throws Exception;

    /** The stream was opened in the middle of a game: this was asked and answered before. */
    default void resumedMove(RequestMove ask, Square square) throws Exception {}
}
