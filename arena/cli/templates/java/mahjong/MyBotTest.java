import static org.junit.jupiter.api.Assertions.assertEquals;

import botarena.Tile;
import java.util.List;
import org.junit.jupiter.api.Test;

class MyBotTest {
    @Test
    void aTileAloneIsDiscarded() {
        List<Tile> hand = List.of(Tile.C1, Tile.C2, Tile.C3, Tile.B5, Tile.D7, Tile.D7);
        assertEquals(Tile.B5, MyBot.choose(hand));
    }
}
