package botarena;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A kind of tile, of which there are four: characters (C), bamboos (B) and dots (D) of 1 to 9. */
public enum Tile {
    C1, C2, C3, C4, C5, C6, C7, C8, C9,
    B1, B2, B3, B4, B5, B6, B7, B8, B9,
    D1, D2, D3, D4, D5, D6, D7, D8, D9;

    private static final Map<Integer, Tile> BY_NUMBER = new HashMap<>();

    static {
        for (Tile tile : values()) {
            BY_NUMBER.put(tile.number(), tile);
        }
    }

    /** 0 characters, 1 bamboos, 2 dots. */
    public int suit() {
        return ordinal() / 9;
    }

    /** 1 to 9. */
    public int rank() {
        return ordinal() % 9 + 1;
    }

    /** 10 * suit + rank, as in the protocol. */
    public int number() {
        return 10 * suit() + rank();
    }

    static Optional<Tile> of(int number) {
        return Optional.ofNullable(BY_NUMBER.get(number));
    }

    /** In the notation of the arena: {@code 7b}. */
    @Override
    public String toString() {
        return rank() + "cbd".substring(suit(), suit() + 1);
    }
}
