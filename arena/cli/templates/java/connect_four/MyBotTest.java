import static org.junit.jupiter.api.Assertions.assertEquals;

import botarena.Point;
import java.util.List;
import org.junit.jupiter.api.Test;

class MyBotTest {
    @Test
    void theMiddleComesFirst() {
        List<Point> points = List.of(new Point(8, 0), new Point(7, 4), new Point(8, 8));
        assertEquals(new Point(7, 4), MyBot.choose(points, 9));
    }
}
