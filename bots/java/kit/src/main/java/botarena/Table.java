package botarena;

import java.util.List;

/**
 * What everybody knows before the first play.
 *
 * @param scoring how the round counts
 * @param reversal whether a four of a kind reverses the order
 * @param cardsLeft how many cards each seat holds, in order of the seats
 */
public record Table(Scoring scoring, boolean reversal, List<Integer> cardsLeft) {}
