package botarena;

/** A bot can't listen where it should, or can't join the arena that it should. */
public final class ListenException extends Exception {
    private static final long serialVersionUID = 1;

    ListenException(String words) {
        super(words);
    }

    ListenException(String words, Throwable cause) {
        super(words, cause);
    }
}
