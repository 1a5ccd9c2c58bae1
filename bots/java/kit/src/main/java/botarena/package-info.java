/**
 * Writing a bot: fill in the callbacks of a game, and one line of main.
 *
 * <pre>{@code
 * class Leftmost implements ConnectFourBot {
 *     public Point getPoint(GetPoint ask) {
 *         return ask.points().get(0);
 *     }
 *
 *     public static void main(String[] args) {
 *         new Bot("leftmost", "1.0").connectFour(Leftmost::new).main();
 *     }
 * }
 * }</pre>
 *
 * <p>The kit does the rest: the server, its address, Ready, health, reflection, one object of yours
 * for each game, an orderly stop. An exception in a callback loses the game that it happened in and
 * no other.
 */
package botarena;
