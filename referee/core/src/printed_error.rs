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
    /// The line of the message.
    pub(crate) said: usize,
    /// The lines that say it: the message's, the place's, and the source line below the place.
    pub(crate) lines: Vec<usize>,
}

impl PrintedError {
    /// The error of a program that has printed these lines last, where they have the form of one
    /// in Python, JavaScript, Java, C++, Rust, Ruby, Lua or Perl.
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
        [python, at_frames, cpp, rust, ruby, lua, perl]
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
    Some(FoundError::new(lines[message], message, place, found))
}

/// The error first, and then frames that begin with `at`: of JavaScript and Java.
fn at_frames(lines: &[&str]) -> Option<FoundError> {
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
    let own = (said + 1..=last).find_map(|at| Some((at, place_of_frame(words(lines[at]))?)));
    // A file that can't be parsed is named before the error, and there is no frame of it.
    let own = own.or_else(|| {
        (0..said)
            .rev()
            .find_map(|at| Some((at, place_of_line(lines[at])?)))
    });
    Some(FoundError::with_own(bare, said, own))
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
        Some(what) => FoundError::new(
            &format!("{kind}: {}", what.trim()),
            at + 1,
            None,
            vec![at, at + 1],
        ),
        None => FoundError::new(kind, at, None, vec![at]),
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
    Some(FoundError::new(message, at + 1, place, vec![at, at + 1]))
}

/// `bot.rb:3:in `<main>': no luck (RuntimeError)`, and frames that begin with `from`.
fn ruby(lines: &[&str]) -> Option<FoundError> {
    let message = |line: &str| {
        let (place, rest) = line.split_once(":in ")?;
        let (message, kind) = rest
            .split_once(": ")?
            .1
            .strip_suffix(')')?
            .rsplit_once(" (")?;
        let is_class = kind.starts_with(|c: char| c.is_ascii_uppercase());
        let is_place = place.ends_with(|c: char| c.is_ascii_digit());
        (is_class && is_place).then(|| (format!("{kind}: {message}"), place.to_owned()))
    };
    let (said, (message, place)) = (0..lines.len())
        .rev()
        .find_map(|at| Some((at, message(lines[at])?)))?;
    let is_own = |place: &str| {
        let library = ["<internal:", "/lib/ruby/", "/gems/", "/vendor_ruby/"];
        !library.iter().any(|part| place.contains(part))
    };
    let frames = (said + 1..lines.len()).filter_map(|at| {
        let (place, _) = words(lines[at]).strip_prefix("from ")?.split_once(":in ")?;
        Some((at, place))
    });
    let own = [(said, &*place)].into_iter().chain(frames);
    let mut own = own.filter(|(_, place)| is_own(place));
    let own = own.find_map(|(at, place)| Some((at, place_of_line(place)?)));
    Some(FoundError::with_own(&message, said, own))
}

/// `lua: bot.lua:3: no luck`, and below it a trace.
fn lua(lines: &[&str]) -> Option<FoundError> {
    let trace = lines.iter().rposition(|line| *line == "stack traceback:")?;
    let (said, rest) = (0..trace).rev().find_map(|at| {
        let (program, rest) = lines[at].split_once(": ")?;
        base(program).starts_with("lua").then_some((at, rest))
    })?;
    let message = match rest.split_once(": ") {
        Some((place, message)) if place_of_line(place).is_some() => message,
        _ => rest,
    };
    let frames = (trace + 1..lines.len()).map(|at| (at, words(lines[at])));
    let own = [(said, rest)]
        .into_iter()
        .chain(frames)
        .find_map(|(at, text)| {
            let (place, _) = text.split_once(": ")?;
            let is_library = place.contains("/lua/");
            Some((at, place_of_line(place).filter(|_| !is_library)?))
        });
    let message = message.trim_end_matches(':');
    Some(FoundError::with_own(message, said, own))
}

/// `no luck at bot.pl line 3.`, and below it what could not be compiled because of that.
fn perl(lines: &[&str]) -> Option<FoundError> {
    let is_sequel = |line: &str| {
        line.starts_with("BEGIN failed--") || line.starts_with("Compilation failed in require")
    };
    let message = |line: &str| {
        // The folders in which it has looked may make it longer than what is kept of a line.
        (perl_place(line).is_some() || line.starts_with("Can't locate ")) && !is_sequel(line)
    };
    let said = lines.iter().rposition(|line| message(line))?;
    let below = (said..lines.len()).filter(|at| *at == said || is_sequel(lines[*at]));
    let own = below
        .clone()
        .find_map(|at| Some((at, perl_place(lines[at])?.1?)));
    let before = perl_place(lines[said]).map_or(lines[said], |(before, _)| before);
    let message = before
        .split_once(" (@INC ")
        .map_or(before, |(said, _)| said);
    Some(FoundError::with_own(message, said, own))
}

/// What a line says before its place, and that where it is in the author's own files.
fn perl_place(line: &str) -> Option<(&str, Option<String>)> {
    let (before, place) = line.strip_suffix('.')?.rsplit_once(" at ")?;
    let (file, rest) = place.split_once(" line ")?;
    // The handle that was read last may follow: `, <STDIN> line 5`.
    let (number, _) = rest.split_once(", <").unwrap_or((rest, ""));
    let is_place = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    let is_own = !file.contains("/perl") && !file.starts_with('(');
    is_place.then(|| (before, is_own.then(|| format!("{}:{number}", base(file)))))
}

impl FoundError {
    fn new(message: &str, said: usize, place: Option<String>, lines: Vec<usize>) -> Self {
        let message = message.trim().to_owned();
        Self {
            error: PrintedError { message, place },
            said,
            lines,
        }
    }

    /// The error that one line says, with the line of a place in the author's own files.
    fn with_own(message: &str, said: usize, own: Option<(usize, String)>) -> Self {
        let mut lines = vec![said];
        lines.extend(own.iter().map(|(at, _)| *at).filter(|at| *at != said));
        Self::new(message, said, own.map(|(_, place)| place), lines)
    }
}

/// A line without what it begins with; a tab may have been made visible.
fn words(line: &str) -> &str {
    line.trim_start().trim_start_matches("\\t")
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
            (
                "<internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/kernel_require.rb>:85:in \
                 `require': cannot load such file -- kit/a (LoadError)\n\\tfrom \
                 <internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/kernel_require.rb>:85:in \
                 `require'\n\\tfrom bot.rb:1:in `<main>'",
                "LoadError: cannot load such file -- kit/a (bot.rb:1)",
            ),
            (
                "/srv/me/bot.rb:4:in 'Array#fetch': index 9 outside of array bounds: -2...2 \
                 (IndexError)\n\\tfrom /srv/me/bot.rb:4:in '<main>'",
                "IndexError: index 9 outside of array bounds: -2...2 (bot.rb:4)",
            ),
            (
                "lua: /srv/me/bot.lua:1: module 'kit.a' not found:\n\
                 \\tno field package.preload['kit.a']\n\\tno file './kit.so'\n\
                 stack traceback:\n\\t[C]: in function 'require'\n\
                 \\t/srv/me/bot.lua:1: in main chunk\n\\t[C]: in ?",
                "module 'kit.a' not found (bot.lua:1)",
            ),
            (
                "/usr/bin/lua5.4: /usr/share/lua/5.4/json.lua:9: expected a value\n\
                 stack traceback:\n\\t/usr/share/lua/5.4/json.lua:9: in function 'json.decode'\n\
                 \\tbot.lua:3: in main chunk",
                "expected a value (bot.lua:3)",
            ),
            (
                "Can't locate No/Kit.pm in @INC (you may need to install the No::Kit module) \
                 (@INC contains: /etc/perl /usr/share/perl5) at bot.pl line 1.\n\
                 BEGIN failed--compilation aborted at bot.pl line 1.",
                "Can't locate No/Kit.pm in @INC (you may need to install the No::Kit module) \
                 (bot.pl:1)",
            ),
            (
                "Can't locate Kit.pm in @INC (you may need to install the Kit module) (@INC \
                 contains: /etc/perl\nBEGIN failed--compilation aborted at /usr/share/perl5/A.pm \
                 line 3.\nCompilation failed in require at bot.pl line 2.",
                "Can't locate Kit.pm in @INC (you may need to install the Kit module) (bot.pl:2)",
            ),
            (
                "Illegal division by zero at /srv/me/bot.pl line 7, <STDIN> line 2.",
                "Illegal division by zero (bot.pl:7)",
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
            "in line 3: no luck (at all)",
            "stack traceback:",
            "it ends at noon.",
        ] {
            assert_eq!(read(printed), None, "{printed}");
        }
    }
}
