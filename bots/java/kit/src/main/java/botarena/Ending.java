package botarena;

/** What ended a game. */
public enum Ending {
    /** Something that this kit does not know: the referee is newer. */
    UNKNOWN,
    /** The rules. */
    PLAYED,
    /** A foul. */
    FOUL,
    /** A player gave up. */
    RESIGNED,
    /** The referee failed; the game counts for nobody and is played again. */
    VOID;

    static Ending of(int number) {
        return number >= 0 && number < values().length ? values()[number] : UNKNOWN;
    }
}
