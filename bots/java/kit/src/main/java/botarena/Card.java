package botarena;

import java.util.Optional;

/** A card: a letter for its suit (clubs, diamonds, hearts, spades) and its rank; from low to high. */
public enum Card {
    C3, D3, H3, S3,
    C4, D4, H4, S4,
    C5, D5, H5, S5,
    C6, D6, H6, S6,
    C7, D7, H7, S7,
    C8, D8, H8, S8,
    C9, D9, H9, S9,
    C10, D10, H10, S10,
    CJ, DJ, HJ, SJ,
    CQ, DQ, HQ, SQ,
    CK, DK, HK, SK,
    CA, DA, HA, SA,
    C2, D2, H2, S2,
    JOKER_1, JOKER_2;

    private static final Card[] ALL = values();
    private static final String[] RANKS = {
        "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2"
    };

    /** Whether it is a joker. */
    public boolean isJoker() {
        return this == JOKER_1 || this == JOKER_2;
    }

    /** In the normal order, from 0 for the threes to 12 for the twos; 13 for a joker. */
    public int rank() {
        return ordinal() / 4;
    }

    /**
     * 0 clubs, 1 diamonds, 2 hearts, 3 spades.
     *
     * @throws IllegalStateException for a joker, which has none
     */
    public int suit() {
        if (isJoker()) {
            throw new IllegalStateException("a joker has no suit");
        }
        return ordinal() % 4;
    }

    /** 1 to 54, as in the protocol. */
    public int number() {
        return ordinal() + 1;
    }

    static Optional<Card> of(int number) {
        return number < 1 || number > ALL.length ? Optional.empty() : Optional.of(ALL[number - 1]);
    }

    /** In the notation of the arena: {@code 3C}, {@code 10D}, {@code JK1}. */
    @Override
    public String toString() {
        return isJoker()
                ? "JK" + (ordinal() - S2.ordinal())
                : RANKS[rank()] + "CDHS".charAt(suit());
    }
}
