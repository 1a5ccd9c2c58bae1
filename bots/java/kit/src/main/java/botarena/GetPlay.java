package botarena;

import java.util.List;
import java.util.Optional;

/**
 * A play or a pass of a seat.
 *
 * @param seat who did it
 * @param cards what it played; nothing where it passed
 * @param cardsLeft how many cards it holds now
 * @param reversedAfter whether the order is reversed now, for the next player
 * @param place its place, from 1, the best, where it has gone out by this
 */
public record GetPlay(
        int seat,
        Optional<List<Card>> cards,
        int cardsLeft,
        boolean reversedAfter,
        Optional<Integer> place) {}
