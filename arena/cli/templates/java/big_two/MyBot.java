import botarena.BigTwoBot;
import botarena.Bot;
import botarena.Card;
import botarena.GetPlay;
import botarena.RequestPlay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** {{name}}: a bot for Reversal Big Two, one object for each game. */
class MyBot implements BigTwoBot {
    private final List<Card> hand = new ArrayList<>();

    /**
     * What to play; nothing is a pass. Your idea goes here: this plays the lowest single card that
     * it can, and passes where several cards are to be beaten or the order is reversed.
     */
    static Optional<Card> choose(List<Card> hand, List<Card> toBeat, boolean reversed) {
        if (toBeat.isEmpty()) {
            return Optional.of(Collections.min(hand)); // ♣3, where that must be played
        }
        if (toBeat.size() > 1 || reversed) {
            return Optional.empty();
        }
        int rank = toBeat.get(0).rank();
        return hand.stream().filter(card -> card.rank() > rank).sorted().findFirst();
    }

    @Override
    public void getDeal(List<Card> cards) {
        hand.addAll(cards);
    }

    @Override
    public void getPlay(GetPlay play) {}

    @Override
    public Optional<List<Card>> requestPlay(RequestPlay ask, Duration limit) {
        Optional<Card> card = choose(hand, ask.toBeat().orElse(List.of()), ask.reversed());
        card.ifPresent(hand::remove);
        System.out.println("I play " + card); // goes into the bot's log
        return card.map(List::of);
    }

    public static void main(String[] args) {
        new Bot("{{name}}", "1").bigTwo(MyBot::new).main();
    }
}
