import botarena.Bot;
import botarena.MahjongBot;
import botarena.Tile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** {{name}}: a bot for Mahjong, one object for each game. */
class MyBot implements MahjongBot {
    private final List<Tile> hand = new ArrayList<>();

    /**
     * The tile to discard. Your idea goes here: this takes the one with the fewest neighbours in
     * the hand.
     */
    static Tile choose(List<Tile> hand) {
        return hand.stream()
                .min(Comparator.comparingLong(
                        tile -> hand.stream().filter(other -> areNear(tile, other)).count()))
                .orElseThrow();
    }

    private static boolean areNear(Tile a, Tile b) {
        return a.suit() == b.suit() && Math.abs(a.rank() - b.rank()) <= 1;
    }

    @Override
    public void getDraw(Tile tile) {
        hand.add(tile);
    }

    @Override
    public Tile requestDiscard(Duration limit) {
        Tile tile = choose(hand);
        hand.remove(tile);
        System.out.println("I discard " + tile); // goes into the bot's log
        return tile;
    }

    @Override
    public void getOppDiscard(Tile tile) {}

    @Override
    public boolean requestWin(Tile tile, boolean isSelfDraw, Duration limit) {
        return true;
    }

    public static void main(String[] args) {
        new Bot("{{name}}", "1").mahjong(MyBot::new).main();
    }
}
