package botarena;

import java.lang.System.Logger.Level;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/**
 * Calls the callbacks of one game, and tells what they throw: with the author's own line first.
 */
final class Callbacks {
    private static final System.Logger LOG = System.getLogger("botarena");
    private static final String OURS = Callbacks.class.getPackageName();
    private static final int MOST_CAUSES = 10;

    private final Class<?> author;
    private final BooleanSupplier isCutOff;

    /**
     * @param author a class of the author's
     * @param isCutOff whether nobody waits for this game any more
     */
    Callbacks(Class<?> author, BooleanSupplier isCutOff) {
        this.author = author;
        this.isCutOff = isCutOff;
    }

    /** A callback that returns nothing. */
    interface Action {
        void run() throws Exception;
    }

    void run(String name, Action callback) throws Fault {
        call(
                name,
                () -> {
                    callback.run();
                    return null;
                });
    }

    /** What the callback of this name returns. What reads it may run the author's code too. */
    <T> T call(String name, Callable<T> callback) throws Fault {
        try {
            return callback.call();
        } catch (Fault fault) {
            throw fault;
        } catch (Throwable thrown) {
            throw thrown(name, thrown);
        }
    }

    private Fault thrown(String name, Throwable thrown) {
        StackTraceElement[] trace = thrown.getStackTrace();
        String place =
                own(trace).map(at -> at.getFileName() + ":" + at.getLineNumber() + ": ").orElse("");
        String words = place + "exception in " + name + ": " + words(thrown);
        if (!isCutOff.getAsBoolean()) {
            Throwable cause = thrown;
            for (int i = 0; i < MOST_CAUSES && cause != null; i++, cause = cause.getCause()) {
                cause.setStackTrace(withoutOurs(cause.getStackTrace()));
            }
            LOG.log(Level.ERROR, place + "exception in " + name, thrown);
        }
        return Fault.failed(words);
    }

    private static String words(Throwable thrown) {
        try {
            Throwable cause = thrown.getCause();
            // Such as an ExceptionInInitializerError.
            boolean isMute = thrown.getMessage() == null && cause != null;
            return isMute ? thrown + ": " + cause : thrown.toString();
        } catch (Throwable another) {
            return thrown.getClass().getName();
        }
    }

    /** The innermost frame of the author's own code, or else of somebody's that is not ours. */
    private Optional<StackTraceElement> own(StackTraceElement[] trace) {
        List<StackTraceElement> others =
                Arrays.stream(trace)
                        .filter(at -> at.getFileName() != null && !isLibrary(at))
                        .toList();
        return others.stream()
                .filter(this::isBesideAuthor)
                .findFirst()
                .or(() -> others.stream().findFirst());
    }

    /** Whether it comes from the jar or folder that the author's class comes from. */
    private boolean isBesideAuthor(StackTraceElement at) {
        try {
            Class<?> type = Class.forName(at.getClassName(), false, author.getClassLoader());
            return home(type).equals(home(author));
        } catch (ClassNotFoundException | LinkageError hidden) {
            return false;
        }
    }

    private static Optional<Object> home(Class<?> type) {
        return Optional.ofNullable(type.getProtectionDomain().getCodeSource())
                .map(CodeSource::getLocation);
    }

    private static boolean isLibrary(StackTraceElement at) {
        String module = at.getModuleName();
        String name = at.getClassName();
        return (module != null && (module.startsWith("java.") || module.startsWith("jdk.")))
                || name.startsWith("io.grpc.")
                || name.startsWith("com.google.protobuf.")
                || isOurs(at);
    }

    private static boolean isOurs(StackTraceElement at) {
        String name = at.getClassName();
        return name.startsWith(OURS + ".") && name.indexOf('.', OURS.length() + 1) < 0;
    }

    /** Without the frames that have led to the author's code. */
    private static StackTraceElement[] withoutOurs(StackTraceElement[] trace) {
        for (int i = trace.length - 1; i >= 0; i--) {
            if (trace[i].getClassName().equals(Callbacks.class.getName())) {
                int end = i;
                while (end > 0 && isOurs(trace[end - 1])) {
                    end--;
                }
                // An exception of the kit's own has no frame but ours.
                return end == 0 ? trace : Arrays.copyOf(trace, end);
            }
        }
        return trace;
    }
}
