package botarena;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A bot in one game of Reversal Big Two. */
public non-sealed interface BigTwoBot extends GameBot {
    /** What everybody knows before the first play. */
    default void getTable(Table table) throws Exception {}

    /** Your cards. */
    void getDeal(List<Card> cards) throws Exception;

    /** A seat has played or passed; you are told of your own plays too. */
    void getPlay(GetPlay play) throws Exception;

    /** A seat has left by a foul and taken this place. */
    default void getForfeit(int seat, int place) throws Exception {}

    /** Which cards do you play? Empty is a pass, which is not allowed where you lead. */
    Optional<List<Card>> requestPlay(RequestPlay ask, Duration limit) throws Exception;

    /** The stream was opened in the middle of a game: this was asked and answered before. */
    default void resumedPlay(RequestPlay ask, Optional<List<Card>> cards) throws Exception {}
}
