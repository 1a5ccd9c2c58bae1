package botarena;

/** What was done last in Othello: a {@link Square}, a pass, or nothing yet. */
public sealed interface Previous permits Square, Previous.Pass, Previous.None {
    /** The side had no move. */
    record Pass() implements Previous {}

    /** There was no move yet. */
    record None() implements Previous {}
}
