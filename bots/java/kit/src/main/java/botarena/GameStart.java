package botarena;

import java.time.Duration;
import java.util.Optional;

/**
 * A game begins.
 *
 * @param gameId names the game in logs
 * @param game its name, for example {@code connect_four}
 * @param seat your place, from 0
 * @param seats how many seats the game has
 * @param moveLimit the longest that one question may take
 * @param budget what is left of a time budget over several games, where there is one
 * @param botSeed 64 bits for the bot's own random numbers, so that games can be repeated;
 *     independent of the deal
 * @param rulesVersion grows when the same seed or the same moves mean another game
 * @param behaviorVersion grows when the referee behaves differently on the same messages
 */
public record GameStart(
        String gameId,
        String game,
        int seat,
        int seats,
        Duration moveLimit,
        Optional<Duration> budget,
        long botSeed,
        int rulesVersion,
        int behaviorVersion) {}
