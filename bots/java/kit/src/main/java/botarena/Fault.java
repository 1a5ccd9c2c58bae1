package botarena;

import io.grpc.Status;

/** What ends a stream with an error status. */
final class Fault extends Exception {
    private static final long serialVersionUID = 1;

    /** A status is sent among the headers, of which there may be 8 KiB, escaped. */
    private static final int LONGEST_WORDS = 500;

    private final transient Status status;

    private Fault(Status status, String words) {
        super(words, null, false, false);
        this.status = status.withDescription(shortened(words));
    }

    /** The author's code has failed. */
    static Fault failed(String words) {
        return new Fault(Status.INTERNAL, words);
    }

    /** A callback returned what it should not have. */
    static Fault wrong(String callback, Object value, String expected) {
        return failed(callback + " returned " + value + ": expected " + expected);
    }

    /** The referee has sent what the game does not have. */
    static Fault malformed(String words) {
        return new Fault(Status.INVALID_ARGUMENT, "not a call of this game: " + words);
    }

    /** The first call was not the start of a game. */
    static Fault notBegun() {
        return new Fault(Status.FAILED_PRECONDITION, "the game has not begun");
    }

    Status status() {
        return status;
    }

    private static String shortened(String words) {
        if (words.length() <= LONGEST_WORDS) {
            return words;
        }
        boolean splits = Character.isHighSurrogate(words.charAt(LONGEST_WORDS - 1));
        return words.substring(0, splits ? LONGEST_WORDS - 1 : LONGEST_WORDS);
    }
}
