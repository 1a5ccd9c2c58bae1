package botarena;

import java.util.Optional;

/**
 * How one seat came out.
 *
 * @param place from 1, the best; seats that share a place have the same number
 * @param score in the game's own unit
 * @param foul what the seat did wrong, where it did
 */
public record SeatResult(int place, long score, Optional<FoulKind> foul) {}
