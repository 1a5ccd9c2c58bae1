//! The error that ended a program, read from what it printed.

/// The error that ended a program, as that has printed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedError {
    /// The type of the error and its message: `SyntaxError: expected ':'`.
    pub message: String,
    /// The place in the author's own files, as far as that can be told: `my_bot.py:2`.
    pub place: Option<String>,
}

/// The error, and where it was found.
pub(crate) struct FoundError {
    pub(crate) error: PrintedError,
    /// The lines that say it: the message's, the place's, and the source line below the place.
    pub(crate) lines: Vec<usize>,
}

impl PrintedError {
    /// The error of a program that has printed these lines last, where they have the form of one
    /// in Python, JavaScript, Java, C++ or Rust.
    #[must_use]
    pub fn in_lines(lines: &[impl AsRef<str>]) -> Option<Self> {
        let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
        Some(FoundError::in_lines(&lines)?.error)
    }
}

impl std::fmt::Display for PrintedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

impl FoundError {
    pub(crate) fn in_lines(lines: &[&str]) -> Option<Self> {
        [python, at_frames, cpp, rust]
            .iter()
            .find_map(|form| form(lines))
    }
}

/// Frames first, each with its source line, and then the error.
fn python(lines: &[&str]) -> Option<FoundError> {
    let frame = |line: &str| {
        let (file, rest) = line
            .trim_start()
            .strip_prefix("File \"")?
            .split_once("\", line ")?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((file.to_owned(), number))
    };
    let last = lines.iter().rposition(|line| frame(line).is_some())?;
    let is_indented = |line: &&str| line.starts_with([' ', '\t']);
    let below = lines[last + 1..].iter();
    let message = last + 1 + below.clone().position(|line| !is_indented(line))?;
    let (kind, _) = lines[message]
        .split_once(':')
        .unwrap_or((lines[message], ""));
    let of_a_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if kind.is_empty() || !kind.chars().all(of_a_name) {
        return None;
    }
    let begin = (lines[..last].iter()).rposition(|line| line.starts_with("Traceback ("));
    let mut frames = (begin.unwrap_or(0)..=last).rev();
    let own = frames.find_map(|at| {
        let (file, number) = frame(lines[at])?;
        let is_library = [
            "/site-packages/",
            "/dist-packages/",
            "/lib/python",
            "/bot_arena/",
        ]
        .iter()
        .any(|folder| file.contains(folder));
        (!is_library && !file.starts_with('<')).then(|| (at, format!("{}:{number}", base(&file))))
    });
    let mut found = vec![message];
    if let Some((at, _)) = &own {
        found.insert(0, *at);
        if lines
            .get(at + 1)
            .is_some_and(|line| is_indented(line) && frame(line).is_none())
        {
            found.insert(1, at + 1);
        }
    }
    let place = own.map(|(_, place)| place);
    Some(FoundError::new(lines[message], place, found))
}

/// The error first, and then frames that begin with `at`: of JavaScript and Java.
fn at_frames(lines: &[&str]) -> Option<FoundError> {
    // A tab was made visible.
    let words = |line: &str| line.trim_start().trim_start_matches("\\t").to_owned();
    let is_frame = |line: &&str| words(line).starts_with("at ");
    let is_message = |line: &&str| {
        let name = line.split([':', ' ']).next().unwrap_or_default();
        name.ends_with("Error") || name.ends_with("Exception")
    };
    let message = |at: usize| {
        let line = lines[at];
        let bare = match line.strip_prefix("Exception in thread \"") {
            Some(rest) => rest.split_once("\" ")?.1,
            None => line.strip_prefix("Caused by: ").unwrap_or(line),
        };
        let bare = bare.strip_prefix("Uncaught ").unwrap_or(bare);
        is_message(&bare).then_some((at, bare))
    };
    let last = lines.iter().rposition(is_frame)?;
    let (said, bare) = (0..last).rev().find_map(message)?;
    let own = (said + 1..=last).find_map(|at| Some((at, place_of_frame(&words(lines[at]))?)));
    // A file that can't be parsed is named before the error, and there is no frame of it.
    let own = own.or_else(|| {
        (0..said)
            .rev()
            .find_map(|at| Some((at, place_of_line(lines[at])?)))
    });
    let mut found = vec![said];
    found.extend(own.iter().map(|(at, _)| *at));
    Some(FoundError::new(bare, own.map(|(_, place)| place), found))
}

/// `at Object.<anonymous> (/srv/me/bot.js:3:9)`, `at file:///srv/me/bot.mjs:3:9`,
/// `at Bot.main(Bot.java:12)`; none of a library.
fn place_of_frame(frame: &str) -> Option<String> {
    // Members of the error may follow.
    let frame = frame.strip_prefix("at ")?.trim_end_matches(" {");
    let is_library = ["node:", "node_modules", "(native", "<anonymous>)"]
        .iter()
        .any(|part| frame.contains(part))
        || [
            "java.",
            "javax.",
            "jdk.",
            "sun.",
            "io.grpc.",
            "io.netty.",
            "com.google.",
        ]
        .iter()
        .any(|package| {
            frame
                .split('/')
                .next_back()
                .unwrap_or(frame)
                .starts_with(package)
        });
    if is_library {
        return None;
    }
    let place = match frame.rsplit_once('(') {
        Some((_, place)) => place.strip_suffix(')')?,
        None => frame,
    };
    place_of_line(place)
}

/// A file with the number of a line, and perhaps that of a column.
fn place_of_line(text: &str) -> Option<String> {
    let mut parts = text.rsplit(':');
    let numbers: Vec<&str> = (parts.by_ref())
        .take_while(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
        .take(2)
        .collect();
    let line = numbers.last()?;
    let length: usize = numbers.iter().map(|number| number.len() + 1).sum();
    let file = text.get(..text.len() - length)?;
    let is_file = !file.contains(' ') && base(file).contains('.');
    is_file.then(|| format!("{}:{line}", base(file)))
}

/// What the library says of an exception that nobody has caught.
fn cpp(lines: &[&str]) -> Option<FoundError> {
    const THROWN: &str = "terminate called after throwing an instance of '";
    let at = lines.iter().rposition(|line| line.starts_with(THROWN))?;
    let kind = lines[at].strip_prefix(THROWN)?.strip_suffix('\'')?;
    let what = lines
        .get(at + 1)
        .and_then(|line| line.trim_start().strip_prefix("what():"));
    Some(match what {
        Some(what) => FoundError::new(&format!("{kind}: {}", what.trim()), None, vec![at, at + 1]),
        None => FoundError::new(kind, None, vec![at]),
    })
}

/// `thread 'main' panicked at src/main.rs:2:5:`, and the message below.
fn rust(lines: &[&str]) -> Option<FoundError> {
    let panic = |line: &str| {
        let (_, place) = line.strip_prefix("thread '")?.split_once(" panicked at ")?;
        Some(place.strip_suffix(':')?.to_owned())
    };
    let (at, place) = (0..lines.len())
        .rev()
        .find_map(|at| Some((at, panic(lines[at])?)))?;
    let message = lines.get(at + 1)?;
    let is_own = !place.starts_with('/');
    let place = is_own.then(|| place_of_line(&place)).flatten();
    Some(FoundError::new(message, place, vec![at, at + 1]))
}

impl FoundError {
    fn new(message: &str, place: Option<String>, lines: Vec<usize>) -> Self {
        let message = message.trim().to_owned();
        Self {
            error: PrintedError { message, place },
            lines,
        }
    }
}

/// The name of a file without its folders.
fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let lines: Vec<&str> = text.lines().collect();
        Some(PrintedError::in_lines(&lines)?.to_string())
    }

    /// Each was printed by the program of that language.
    #[test]
    fn an_error_is_read_with_its_author_s_own_place() {
        for (printed, error) in [
            (
                "  File \"/srv/me/my_bot.py\", line 2\n    def f()\n           ^\n\
                 SyntaxError: expected ':'",
                "SyntaxError: expected ':' (my_bot.py:2)",
            ),
            (
                "Traceback (most recent call last):\n  File \"/srv/me/my_bot.py\", line 9, in <module>\n    \
                 Bot(\"mine\", \"1\").connect_four(Mine).main()\n  \
                 File \"/venv/lib/python3.11/site-packages/bot_arena/bot.py\", line 116, in _plays\n    \
                 raise TypeError(f\"lacks\")\nTypeError: Mine lacks get_point",
                "TypeError: Mine lacks get_point (my_bot.py:9)",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n\
                 OSError: x\n\nDuring handling of the above exception, another exception occurred:\n\n\
                 Traceback (most recent call last):\n  File \"b.py\", line 3, in <module>\n    g()\n\
                 KeyboardInterrupt",
                "KeyboardInterrupt (b.py:3)",
            ),
            (
                "file:///srv/me/bot.mjs:2\n  foo(\n      ^\n\n\
                 SyntaxError: missing ) after argument list\n    \
                 at compileSourceTextModule (node:internal/modules/esm/utils:346:16)\n\nNode.js v22.1.0",
                "SyntaxError: missing ) after argument list (bot.mjs:2)",
            ),
            (
                "Error: Cannot find module 'grpc'\nRequire stack:\n- /srv/me/bot.js\n    \
                 at Module._load (node:internal/modules/cjs/loader:1:2)\n    \
                 at Object.<anonymous> (/srv/me/bot.js:3:14) {\n  code: 'MODULE_NOT_FOUND'\n}",
                "Error: Cannot find module 'grpc' (bot.js:3)",
            ),
            (
                "/srv/me/bot.js:3\nTypeError: x is not a function\n    \
                 at Object.<anonymous> (/srv/me/bot.js:3:14)\n    \
                 at node:internal/main/run_main_module:23:47",
                "TypeError: x is not a function (bot.js:3)",
            ),
            (
                "Exception in thread \"main\" java.lang.ArrayIndexOutOfBoundsException: Index 5\n\
                 \\tat java.base/java.util.Arrays.get(Arrays.java:9)\n\\tat Mine.main(Mine.java:12)",
                "java.lang.ArrayIndexOutOfBoundsException: Index 5 (Mine.java:12)",
            ),
            (
                "terminate called after throwing an instance of 'std::out_of_range'\n  \
                 what():  no such tile",
                "std::out_of_range: no such tile",
            ),
            (
                "thread 'main' panicked at src/main.rs:2:5:\nno luck\n\
                 note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
                "no luck (main.rs:2)",
            ),
        ] {
            assert_eq!(read(printed).as_deref(), Some(error), "{printed}");
        }
    }

    #[test]
    fn what_is_no_error_is_none() {
        for printed in [
            "",
            "no luck today",
            "look at me",
            "  File \"a.py\", line 2",
            "  File \"a.py\", line 2\n*** nothing",
            "I am\n    at home",
            "terminate called",
            "thread 'main' panicked at",
        ] {
            assert_eq!(read(printed), None, "{printed}");
        }
    }
}
