package author;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process of {@link Subject}. */
final class Subprocess implements AutoCloseable {
    private final Path folder;
    private final Process process;
    private final BufferedReader out;

    /** Started in this folder with these variables. */
    Subprocess(Path folder, Map<String, String> environment, String... arguments)
            throws IOException {
        this.folder = folder;
        List<String> command =
                new ArrayList<>(
                        List.of(
                                // A shell starts what is in its background with this signal
                                // ignored, which a JVM leaves as it is.
                                "env",
                                "--default-signal=INT",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Subject.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        // As in many containers.
        builder.environment().put("LC_ALL", "C");
        builder.environment().putAll(environment);
        builder.directory(folder.toFile());
        builder.redirectError(folder.resolve("errors").toFile());
        process = builder.start();
        out = process.inputReader(StandardCharsets.UTF_8);
    }

    String line() throws IOException {
        return out.readLine();
    }

    void signal(String name) throws Exception {
        String[] command = {"kill", "-" + name, Long.toString(process.pid())};
        assertEquals(0, new ProcessBuilder(command).start().waitFor());
    }

    /** Its exit code. */
    int end() throws InterruptedException {
        assertTrue(process.waitFor(Referee.LONG, TimeUnit.SECONDS));
        return process.exitValue();
    }

    String errors() throws IOException {
        return Files.readString(folder.resolve("errors"));
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
