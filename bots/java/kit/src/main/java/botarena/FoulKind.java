package botarena;

/** What a seat can do wrong. */
public enum FoulKind {
    /** A kind that this kit does not know: the referee is newer. */
    UNKNOWN,
    /** Nothing answers at the bot's address. */
    UNREACHABLE,
    /** It did not answer within the start-up limit. */
    NO_START,
    /** It does not play this game. */
    UNSUPPORTED,
    /** Its process ended or its connection broke. */
    CRASHED,
    /** It closed the stream in the middle of the game. */
    HUNG_UP,
    /** It ended the stream with an error, such as an exception in a callback. */
    ERROR_STATUS,
    /** Its answer can't be read. */
    MALFORMED,
    /** Its answer names another question. */
    WRONG_NUMBER,
    /** It spoke without being asked. */
    UNSOLICITED,
    /** Its answer is larger than allowed. */
    OVERSIZED,
    /** Its process used more memory than allowed. */
    MEMORY_EXCEEDED,
    /** Its move is against the rules of the game. */
    ILLEGAL,
    /** It did not answer within the limit. */
    LATE,
    /** It sent more than any answer needs. */
    FLOODED,
    /** It was late just when the referee was delayed, too often for chance. */
    INTERFERED,
    /** A person gave up. */
    RESIGNED;

    static FoulKind of(int number) {
        return number >= 0 && number < values().length ? values()[number] : UNKNOWN;
    }
}
