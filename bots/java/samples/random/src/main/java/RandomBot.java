import botarena.BigTwoBot;
import botarena.Bot;
import botarena.Card;
import botarena.ConnectFourBot;
import botarena.GameStart;
import botarena.GetPlay;
import botarena.GetPoint;
import botarena.MahjongBot;
import botarena.OthelloBot;
import botarena.Point;
import botarena.RequestMove;
import botarena.RequestPlay;
import botarena.Square;
import botarena.Tile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Plays all four games at random. What it draws follows from the game's bot seed, so it repeats
 * itself, also where it is resumed mid-game.
 */
final class RandomBot {
    private RandomBot() {}

    /** Draws from a list, by the generator splitmix64. */
    private static final class Dice {
        private final SplittableRandom random;

        Dice(GameStart start) {
            random = new SplittableRandom(start.botSeed());
        }

        <T> T pick(List<T> from) {
            return from.get((int) Long.remainderUnsigned(random.nextLong(), from.size()));
        }

        /** A draw that was made before the stream was opened. */
        void again() {
            random.nextLong();
        }
    }

    private static final class ConnectFour implements ConnectFourBot {
        private final Dice dice;

        ConnectFour(GameStart start) {
            dice = new Dice(start);
        }

        @Override
        public Point getPoint(GetPoint ask) {
            return dice.pick(ask.points());
        }

        @Override
        public void resumedPoint(GetPoint ask, Point point) {
            dice.again();
        }
    }

    private static final class Mahjong implements MahjongBot {
        private final Dice dice;
        private final List<Tile> hand = new ArrayList<>();

        Mahjong(GameStart start) {
            dice = new Dice(start);
        }

        @Override
        public void getDraw(Tile tile) {
            hand.add(tile);
        }

        @Override
        public Tile requestDiscard(Duration limit) {
            Tile tile = dice.pick(hand);
            hand.remove(tile);
            return tile;
        }

        @Override
        public void getOppDiscard(Tile tile) {}

        @Override
        public boolean requestWin(Tile tile, boolean isSelfDraw, Duration limit) {
            return true;
        }

        @Override
        public void resumedDiscard(Tile tile) {
            dice.again();
            hand.remove(tile);
        }
    }

    private static final class BigTwo implements BigTwoBot {
        private final Dice dice;
        private final int seat;
        private final List<Card> hand = new ArrayList<>();

        BigTwo(GameStart start) {
            dice = new Dice(start);
            seat = start.seat();
        }

        @Override
        public void getDeal(List<Card> cards) {
            hand.addAll(cards);
            Collections.sort(hand);
        }

        @Override
        public void getPlay(GetPlay play) {
            // It is told of its own plays too, also when it is resumed.
            if (play.seat() == seat) {
                play.cards().ifPresent(hand::removeAll);
            }
        }

        @Override
        public Optional<List<Card>> requestPlay(RequestPlay ask, Duration limit) {
            return dice.pick(plays(hand, ask));
        }

        @Override
        public void resumedPlay(RequestPlay ask, Optional<List<Card>> cards) {
            dice.again();
        }

        /**
         * Legal plays: some cards of one rank, without jokers that stand in for other cards and
         * without straight flushes; and a pass.
         */
        private static List<Optional<List<Card>>> plays(List<Card> hand, RequestPlay ask) {
            int only = 0;
            int least = 0;
            if (ask.toBeat().isPresent()) {
                List<Card> toBeat = ask.toBeat().get();
                List<Card> naturals = toBeat.stream().filter(card -> !card.isJoker()).toList();
                boolean isStraightFlush =
                        naturals.stream().map(Card::rank).distinct().count() > 1;
                only = isStraightFlush ? -1 : toBeat.size();
                least = key((naturals.isEmpty() ? toBeat : naturals).get(0), ask) + 1;
            }
            List<Optional<List<Card>>> found = new ArrayList<>();
            for (int first = 0; first < hand.size(); first++) {
                Card lowest = hand.get(first);
                int end = first + 1;
                while (!lowest.isJoker()
                        && end < hand.size()
                        && hand.get(end).rank() == lowest.rank()) {
                    end++;
                }
                for (int count = 1; count <= end - first; count++) {
                    if ((only == 0 || count == only) && key(lowest, ask) >= least) {
                        found.add(Optional.of(List.copyOf(hand.subList(first, first + count))));
                    }
                }
            }
            if (ask.mustIncludeThreeOfClubs()) {
                found.removeIf(play -> !play.orElseThrow().contains(Card.C3));
            } else if (ask.toBeat().isPresent()) {
                found.add(Optional.empty());
            }
            return found;
        }

        /** How high a card is in the order of the moment. */
        private static int key(Card card, RequestPlay ask) {
            return ask.reversed() && !card.isJoker() ? Card.S2.rank() - card.rank() : card.rank();
        }
    }

    private static final class Othello implements OthelloBot {
        private static final int SIZE = 8;
        private static final int THEIRS = 1;
        private static final int MINE = 2;

        private final Dice dice;

        Othello(GameStart start) {
            dice = new Dice(start);
        }

        @Override
        public Square requestMove(RequestMove ask, Duration limit) {
            List<Square> squares = new ArrayList<>();
            for (int row = 0; row < SIZE; row++) {
                for (int column = 0; column < SIZE; column++) {
                    if (turns(ask, row, column)) {
                        squares.add(new Square(row, column));
                    }
                }
            }
            return dice.pick(squares);
        }

        @Override
        public void resumedMove(RequestMove ask, Square square) {
            dice.again();
        }

        /** Whether a disc of mine there encloses some of the opponent's. */
        private static boolean turns(RequestMove ask, int row, int column) {
            if (ask.cell(row, column) != 0) {
                return false;
            }
            for (int down = -1; down <= 1; down++) {
                for (int right = -1; right <= 1; right++) {
                    int steps = 1;
                    while (cell(ask, row + steps * down, column + steps * right) == THEIRS) {
                        steps++;
                    }
                    boolean isEnclosed =
                            cell(ask, row + steps * down, column + steps * right) == MINE;
                    if (steps > 1 && isEnclosed) {
                        return true;
                    }
                }
            }
            return false;
        }

        private static int cell(RequestMove ask, int row, int column) {
            boolean isOnBoard = row >= 0 && row < SIZE && column >= 0 && column < SIZE;
            return isOnBoard ? ask.cell(row, column) : 0;
        }
    }

    public static void main(String[] args) {
        new Bot("random", "1.0")
                .maxGames(16)
                .canResume()
                .connectFour(ConnectFour::new)
                .mahjong(Mahjong::new)
                .bigTwo(BigTwo::new)
                .othello(Othello::new)
                .main();
    }
}
