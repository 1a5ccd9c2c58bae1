package botarena;

/**
 * What a round of Mahjong is played by.
 *
 * @param missingSuitRequired whether a hand of all three suits can't win
 * @param wall how many tiles the wall holds when both hands have been dealt
 */
public record Round(boolean missingSuitRequired, int wall) {}
