package botarena;

/** A bot in one game of Connect Four. */
@FunctionalInterface
public non-sealed interface ConnectFourBot extends GameBot {
    /** Where do you play? The stone must land exactly there: on one of {@code ask.points()}. */
    Point getPoint(GetPoint ask) throws Exception;

    /** The stream was opened in the middle of a game: this was asked and answered before. */
    default void resumedPoint(GetPoint ask, Point point) throws Exception {}
}
