package author;

import botarena.Bot;
import botarena.ConnectFourBot;
import botarena.GameOver;
import botarena.GameStart;
import botarena.GetPoint;
import botarena.Point;

/** The bot of the tests of processes: prints its callbacks, and thinks for ever in a game "spin". */
final class Subject implements ConnectFourBot {
    private final String id;

    Subject(GameStart start) {
        id = start.gameId();
        System.out.println("game " + id + " begins: 棋");
    }

    @Override
    public Point getPoint(GetPoint ask) {
        if (id.equals("throw")) {
            throw new IllegalStateException("no column has room");
        }
        while (id.equals("spin")) {
            Thread.onSpinWait();
        }
        return ask.points().get(0);
    }

    @Override
    public void gameOver(GameOver over) {
        System.out.println("over: " + over.reason());
    }

    public static void main(String[] args) {
        Bot bot = new Bot("subject", "1").maxGames(2).connectFour(Subject::new);
        if (args.length == 0) {
            bot.main();
        }
    }
}
