package botarena;

/** A bot in one game: what the bots of all games have. Implement the interface of a game. */
public sealed interface GameBot permits ConnectFourBot, MahjongBot, BigTwoBot, OthelloBot {
    /** The game is over. Not called where it was cut off, nor after a foul of yours. */
    default void gameOver(GameOver over) throws Exception {}
}
