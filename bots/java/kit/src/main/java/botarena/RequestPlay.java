package botarena;

import java.util.List;
import java.util.Optional;

/**
 * A question for a play.
 *
 * @param toBeat the play to beat; nothing where you lead
 * @param reversed whether the order is reversed now
 * @param mustIncludeThreeOfClubs whether the play must contain ♣3, as the first of a game
 */
public record RequestPlay(
        Optional<List<Card>> toBeat, boolean reversed, boolean mustIncludeThreeOfClubs) {}
