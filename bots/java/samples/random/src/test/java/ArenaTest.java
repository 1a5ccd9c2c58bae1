import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bot's jar at the real arena. The environment variable ARENA is the program that serves and
 * plays the matches.
 */
final class ArenaTest {
    /** Longer than anything here takes, however busy the machine is. */
    private static final long LONG = 120;

    private static final Pattern GAME = Pattern.compile("\"type\":\"game\"");
    private static final Pattern NO_FOUL = Pattern.compile("\"fouls\":\\[\\]");

    private final List<Process> processes = new ArrayList<>();

    @TempDir private Path folder;

    private Process start(String name, Map<String, String> environment, List<String> command)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().put("ARENA_SANDBOX", "off");
        builder.environment().put("ARENA_PAGE", "127.0.0.1:0");
        builder.environment().put("ARENA_STORE", folder.resolve("store").toString());
        builder.environment().put("ARENA_LOBBY", folder.resolve("lobby").toString());
        builder.environment().put("DOCKER_HOST", "unix:///there/is/none");
        builder.environment().putAll(environment);
        builder.redirectOutput(file(name)).redirectError(file(name + ".errors"));
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    private File file(String name) {
        return folder.resolve(name).toFile();
    }

    private String read(String name) throws IOException {
        return Files.readString(folder.resolve(name));
    }

    private Process arena(String name, String words) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getenv("ARENA")));
        command.addAll(List.of(words.split(" ")));
        return start(name, Map.of(), command);
    }

    /** What the arena prints. */
    private String run(String words) throws Exception {
        Process process = arena("run", words);
        assertTrue(process.waitFor(LONG, TimeUnit.SECONDS), words);
        assertEquals(0, process.exitValue(), () -> words + ": " + errors());
        return read("run");
    }

    private String errors() {
        try {
            return read("run.errors");
        } catch (IOException error) {
            return error.toString();
        }
    }

    /** What the pattern finds in a text once it is there. */
    private static Matcher await(Callable<String> text, String pattern) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONG);
        while (true) {
            Matcher found = Pattern.compile(pattern).matcher(text.call());
            if (found.find()) {
                return found;
            }
            assertTrue(System.nanoTime() < end, "there is no " + pattern);
            Thread.sleep(50);
        }
    }

    @AfterEach
    void endAll() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void itJoinsAnArenaAndPlaysWithoutAFoul() throws Exception {
        assumeTrue(System.getenv("ARENA") != null, "ARENA names no arena");
        run("lobby add me");
        run("certs init tls");
        run("certs server tls --name 127.0.0.1");
        arena(
                "serve",
                "serve --lobby lobby.tokens --listen 127.0.0.1:0 --concurrency 1"
                        + " --tls-cert tls/127.0.0.1.pem --tls-key tls/127.0.0.1.key");
        String url = await(() -> read("serve.errors"), "BOT_JOIN=(https://[0-9.:]+)").group(1);
        Map<String, String> joining =
                Map.of("BOT_JOIN", url, "BOT_TOKEN_FILE", "me.token", "BOT_CA", "tls/ca.pem");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String jar = Path.of("target", "random.jar").toAbsolutePath().toString();
        Process bot = start("bot", joining, List.of(java, "-jar", jar));
        await(() -> read("bot"), "attending at " + url + " as me\n");
        await(() -> run("lobby"), "(?m)^ *me ");
        String report =
                run(
                        "match othello --bot lobby:me --bot house:random --deals 2 --report json"
                                + " --move-limit 60s --start-limit 60s");
        List<String> games = report.lines().filter(GAME.asPredicate()).toList();
        assertEquals(4, games.size(), report);
        assertTrue(games.stream().allMatch(NO_FOUL.asPredicate()), report);
        bot.destroy();
        assertTrue(bot.waitFor(LONG, TimeUnit.SECONDS));
        assertEquals(0, bot.exitValue());
        assertEquals("", read("bot.errors"));
    }
}
