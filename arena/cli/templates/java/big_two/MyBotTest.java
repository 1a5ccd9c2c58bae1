import static org.junit.jupiter.api.Assertions.assertEquals;

import botarena.Card;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MyBotTest {
    @Test
    void theLowestCardThatBeatsIsPlayed() {
        List<Card> hand = List.of(Card.S2, Card.H9, Card.C5);
        assertEquals(Optional.of(Card.H9), MyBot.choose(hand, List.of(Card.D7), false));
    }
}
