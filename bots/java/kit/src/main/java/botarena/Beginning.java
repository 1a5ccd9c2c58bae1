package botarena;

/**
 * The position that a game of Othello begins with. The array is yours.
 *
 * @param board one a square, 64 of them, row by row from a1: 0 empty, 1 the opponent's disc, 2 your
 *     own
 * @param turn the seat that moves first: 0 is black, 1 white
 * @param previous what was done last
 */
public record Beginning(byte[] board, int turn, Previous previous) {}
