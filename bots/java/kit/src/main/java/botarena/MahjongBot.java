package botarena;

import java.time.Duration;

/** A bot in one round of Mahjong. */
public non-sealed interface MahjongBot extends GameBot {
    /** What the round is played by; before everything else. */
    default void getRound(Round round) throws Exception {}

    /**
     * A tile is in your hand now: one call for each of the 13 at the start, then for each that you
     * draw.
     */
    void getDraw(Tile tile) throws Exception;

    /** Which tile of your hand do you discard? It is out of the hand then. */
    Tile requestDiscard(Duration limit) throws Exception;

    /** The other seat has discarded a tile. */
    void getOppDiscard(Tile tile) throws Exception;

    /**
     * Do you win on this tile, which completes the hand? If you don't, you are told of it as of any
     * other.
     */
    boolean requestWin(Tile tile, boolean isSelfDraw, Duration limit) throws Exception;

    /** The stream was opened in the middle of a round: you discarded this. */
    default void resumedDiscard(Tile tile) throws Exception {}

    /** The same for a claim. */
    default void resumedWin(Tile tile, boolean isSelfDraw, boolean win) throws Exception {}
}
