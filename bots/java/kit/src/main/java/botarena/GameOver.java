package botarena;

import java.util.List;

/**
 * A game has ended.
 *
 * @param results one a seat, in order of the seats
 * @param ending what ended it
 * @param reason the same in words, for example {@code four in a row}
 */
public record GameOver(List<SeatResult> results, Ending ending, String reason) {}
