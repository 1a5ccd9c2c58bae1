package botarena;

/** How a round of Big Two counts. */
public enum Scoring {
    /** A way that this kit does not know: the referee is newer. */
    UNKNOWN,
    /** It ends when one seat is left; 3, 2, 1 and 0 points for the places. */
    PLACES,
    /** It ends when one seat is out; every other pays it for its cards. */
    PAYOUT;

    static Scoring of(int number) {
        return number >= 0 && number < values().length ? values()[number] : UNKNOWN;
    }
}
