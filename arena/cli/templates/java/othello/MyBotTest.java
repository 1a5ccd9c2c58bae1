import static org.junit.jupiter.api.Assertions.assertEquals;

import botarena.Square;
import org.junit.jupiter.api.Test;

class MyBotTest {
    @Test
    void threeDiscsAreMoreThanOne() {
        byte[] board = new byte[64];
        board[0] = 2;
        for (int index : new int[] {1, 2, 3, 8}) {
            board[index] = 1;
        }
        assertEquals(new Square(0, 4), MyBot.choose(board));
    }
}
