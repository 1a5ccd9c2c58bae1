package botarena;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import games.big_two.v1.BigTwo;
import games.big_two.v1.BigTwo.BigTwoAnswer;
import games.big_two.v1.BigTwo.BigTwoCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/** The messages of Reversal Big Two. */
final class BigTwoGame implements Game<BigTwoBot> {
    @Override
    public String service() {
        return "games.big_two.v1.BigTwoBot";
    }

    @Override
    public FileDescriptor file() {
        return BigTwo.getDescriptor();
    }

    @Override
    public Class<BigTwoBot> bot() {
        return BigTwoBot.class;
    }

    @Override
    public void begin(BigTwoBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        BigTwoCall call = BigTwoCall.parseFrom(bytes);
        if (call.hasTable()) {
            BigTwo.Table it = call.getTable();
            Table table =
                    new Table(
                            Scoring.of(it.getScoringValue()),
                            it.getReversal(),
                            List.copyOf(it.getCardsLeftList()));
            callbacks.run("getTable", () -> bot.getTable(table));
        }
        if (call.hasGetDeal()) {
            List<Card> cards = cards(call.getGetDeal().getCardsValueList());
            callbacks.run("getDeal", () -> bot.getDeal(cards));
        }
    }

    @Override
    public Optional<MessageLite> hear(BigTwoBot bot, byte[] bytes, Callbacks callbacks)
            throws Fault, InvalidProtocolBufferException {
        BigTwoCall call = BigTwoCall.parseFrom(bytes);
        switch (call.getCallCase()) {
            case GET_PLAY -> {
                GetPlay play = read(call.getGetPlay());
                callbacks.run("getPlay", () -> bot.getPlay(play));
            }
            case FORFEIT -> {
                int seat = call.getForfeit().getSeat();
                int place = call.getForfeit().getPlace();
                callbacks.run("getForfeit", () -> bot.getForfeit(seat, place));
            }
            case REQUEST_PLAY -> {
                RequestPlay ask = read(call.getRequestPlay());
                if (!call.hasPastAnswer()) {
                    Duration limit = Game.limit(call.getLimit());
                    return Optional.of(
                            callbacks.call(
                                    "requestPlay", () -> answer(bot.requestPlay(ask, limit))));
                }
                BigTwoAnswer past = call.getPastAnswer();
                Optional<List<Card>> cards =
                        past.hasPlay() ? Optional.of(cards(past.getPlay())) : Optional.empty();
                callbacks.run("resumedPlay", () -> bot.resumedPlay(ask, cards));
            }
            default -> {}
        }
        return Optional.empty();
    }

    private static GetPlay read(BigTwo.GetPlay it) throws Fault {
        return new GetPlay(
                it.getSeat(),
                it.hasPlay() ? Optional.of(cards(it.getPlay())) : Optional.empty(),
                it.getCardsLeft(),
                it.getReversedAfter(),
                it.hasPlace() ? Optional.of(it.getPlace()) : Optional.empty());
    }

    private static RequestPlay read(BigTwo.RequestPlay it) throws Fault {
        return new RequestPlay(
                it.hasToBeat() ? Optional.of(cards(it.getToBeat())) : Optional.empty(),
                it.getReversed(),
                it.getMustIncludeThreeOfClubs());
    }

    private static List<Card> cards(BigTwo.Play play) throws Fault {
        return cards(play.getCardsValueList());
    }

    private static List<Card> cards(List<Integer> numbers) throws Fault {
        List<Card> cards = new ArrayList<>();
        for (int number : numbers) {
            cards.add(Card.of(number).orElseThrow(() -> Fault.malformed("no card " + number)));
        }
        return List.copyOf(cards);
    }

    /** Whether the rules allow the play, the referee decides. */
    private static MessageLite answer(Optional<List<Card>> cards) throws Fault {
        String expected = "Cards, each once, or Optional.empty() to pass";
        if (cards == null) {
            throw Fault.wrong("requestPlay", null, expected);
        }
        BigTwoAnswer.Builder answer = BigTwoAnswer.newBuilder();
        if (cards.isEmpty()) {
            return answer.setPass(BigTwo.Pass.getDefaultInstance()).build();
        }
        List<Card> played = new ArrayList<>(cards.get());
        boolean isValid = !played.isEmpty() && !played.contains(null);
        if (!isValid || new HashSet<>(played).size() < played.size()) {
            throw Fault.wrong("requestPlay", played, expected);
        }
        BigTwo.Play.Builder play = BigTwo.Play.newBuilder();
        played.forEach(card -> play.addCardsValue(card.number()));
        return answer.setPlay(play).build();
    }
}
