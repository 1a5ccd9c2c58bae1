//! Causes of fouls that are known from how a program ended and what it printed: one table, in
//! which each row is of fouls that were seen.

use std::path::{Path, PathBuf};

use referee_core::{Foul, PrintedError, split_last_words};
use referee_sandbox::{Wall, Walls};

use crate::{Entry, Interface, Trust, needs::machine_label};

/// The cause of a foul, as far as it is known, as data: the caller puts it into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It reads standard input, which is empty, or ends as a program does that has nothing to read.
    StandardInput,
    /// It writes where a sandbox lets nobody write.
    ReadOnly,
    /// It wants a network, which a sandbox does not have.
    NoNetwork,
    /// A file that is there is not seen in the sandbox.
    Hidden {
        /// The file, as the bot names it.
        file: PathBuf,
    },
    /// A file is not where the bot looks for it.
    NoFile {
        /// The file, as the bot names it.
        file: PathBuf,
        /// The folder that bots are run in.
        directory: PathBuf,
    },
    /// The class of a Python bot is made with the start of the game, and does not take it.
    NoStartArgument,
    /// Its class lacks a method of the game.
    NoMethod {
        /// The names of the methods.
        methods: String,
    },
    /// Compiled code has used memory that is not its own, or has divided by 0.
    Signal(Runs),
    /// The program is a shared object.
    SharedObject {
        /// The file, as it was written.
        file: PathBuf,
    },
    /// A function that is used is in no file of the shared object.
    UndefinedSymbol {
        /// The name of it, as its author wrote it, where that can be told.
        symbol: String,
    },
    /// It plays other games.
    OtherGame {
        /// One of them.
        game: String,
    },
    /// Nobody who is trusted has signed the certificate of a bot that runs already.
    UnknownIssuer,
    /// It is to wait in the lobby of an arena, and does not.
    NotAttending,
    /// `~` stands for nobody's home within a word.
    Tilde {
        /// The word, as it was written.
        word: String,
    },
}

/// The code that a bot's process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// A compiled strategy, behind an adapter of ours.
    Strategy,
    /// A compiled program.
    Compiled,
    /// A script in Python.
    Python,
    /// Something else.
    Other,
}

/// Everything that a cause is told from.
struct Clues<'a> {
    foul: &'a Foul,
    /// What the foul says, with all that was printed.
    text: &'a str,
    entry: &'a Entry,
    /// Its program and arguments; none where it is not one that is started here.
    command: Vec<String>,
    directory: &'a Path,
    walls: Option<&'a Walls>,
}

/// The cause of this foul, if it is known. `directory` is the folder that bots are run in;
/// `walls` are those around bots that are somebody's programs.
pub(crate) fn cause_of(
    foul: &Foul,
    entry: &Entry,
    directory: &Path,
    walls: Option<&Walls>,
) -> Option<Cause> {
    let text = match foul {
        Foul::Unreachable { detail }
        | Foul::NoStart { detail }
        | Foul::Unsupported { detail }
        | Foul::Crashed { detail } => detail,
        Foul::ErrorStatus { message, .. } => message,
        _ => return None,
    };
    let command = entry.launcher().command();
    let command = command.into_iter().flat_map(|(program, arguments)| {
        let words = [program.into_os_string()].into_iter().chain(arguments);
        words.map(|word| word.to_string_lossy().into_owned())
    });
    let command = command.collect();
    let clues = Clues {
        foul,
        text,
        entry,
        command,
        directory,
        walls,
    };
    // The first that fits: what is most certain comes first.
    let table = [
        Clues::unknown_issuer as fn(&_) -> _,
        Clues::not_attending,
        Clues::shared_object,
        Clues::tilde,
        Clues::other_game,
        Clues::undefined_symbol,
        Clues::no_start_argument,
        Clues::no_method,
        Clues::read_only,
        Clues::no_network,
        Clues::file,
        Clues::standard_input,
        Clues::signal,
    ];
    table.iter().find_map(|row| row(&clues))
}

impl Clues<'_> {
    fn interface(&self) -> Interface {
        self.entry.launcher().interface()
    }

    fn is_start(&self) -> bool {
        self.foul.kind().is_start()
    }

    fn says(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.text.contains(part))
    }

    /// True if this wall is around it.
    fn holds(&self, wall: Wall) -> bool {
        match self.entry.launcher().trust() {
            Trust::Process => self.walls.is_some_and(|walls| walls.hold(wall)),
            Trust::Container => true,
            Trust::BuiltIn | Trust::Remote => false,
        }
    }

    /// The words are those of rustls.
    fn unknown_issuer(&self) -> Option<Cause> {
        let is_so = self.is_start() && self.says(&["UnknownIssuer"]);
        let is_remote = self.entry.launcher().trust() == Trust::Remote;
        (is_so && is_remote).then_some(Cause::UnknownIssuer)
    }

    fn not_attending(&self) -> Option<Cause> {
        let is_so = matches!(self.foul, Foul::Unreachable { .. });
        (is_so && self.entry.launcher().is_in_lobby()).then_some(Cause::NotAttending)
    }

    fn shared_object(&self) -> Option<Cause> {
        let file = self.command.first().filter(|_| self.is_start())?;
        let is_one = self.interface() != Interface::Strategy && file.ends_with(".so");
        (is_one && self.directory.join(file).is_file())
            .then(|| Cause::SharedObject { file: file.into() })
    }

    fn tilde(&self) -> Option<Cause> {
        let mut words = self.command.iter().filter(|_| self.is_start());
        let word = words.find(|word| word.starts_with("~/"))?;
        (!self.directory.join(word).exists()).then(|| Cause::Tilde { word: word.clone() })
    }

    fn other_game(&self) -> Option<Cause> {
        let Foul::Unsupported { detail } = self.foul else {
            return None;
        };
        let games = detail.strip_prefix("it plays ")?;
        let game = games.split([',', ' ']).next()?.to_owned();
        Some(Cause::OtherGame { game })
    }

    fn undefined_symbol(&self) -> Option<Cause> {
        let (_, symbol) = self.text.split_once("undefined symbol: ")?;
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let symbol: String = symbol.chars().take_while(|c| of_a_name(*c)).collect();
        // Other programs load objects that their author has not compiled.
        (self.interface() == Interface::Strategy).then(|| Cause::UndefinedSymbol {
            symbol: source_name(&symbol).unwrap_or(symbol),
        })
    }

    /// The words are those of Python.
    fn no_start_argument(&self) -> Option<Cause> {
        let said = [
            "takes 1 positional argument but 2 were given",
            "() takes no arguments",
        ];
        let is_made = self
            .text
            .contains("exception in the constructor: TypeError: ");
        (is_made && self.says(&said)).then_some(Cause::NoStartArgument)
    }

    /// The words are those of the Python kit.
    fn no_method(&self) -> Option<Cause> {
        let (_, error) = self.text.rsplit_once("TypeError: ")?;
        let (class, methods) = error.split_once(" lacks ")?;
        let of_names = |text: &str, more: &str| {
            let of_one = |c: char| c.is_alphanumeric() || c == '_' || more.contains(c);
            !text.is_empty() && text.chars().all(of_one)
        };
        (of_names(class, "") && of_names(methods, ", ")).then(|| Cause::NoMethod {
            methods: methods.to_owned(),
        })
    }

    /// As the system says it, and as the libraries of languages do.
    fn read_only(&self) -> Option<Cause> {
        let is_said = self.text.to_lowercase().contains("read-only file system");
        (is_said && self.holds(Wall::Files)).then_some(Cause::ReadOnly)
    }

    fn no_network(&self) -> Option<Cause> {
        const SAID: &[&str] = &[
            "Network is unreachable",
            "Temporary failure in name resolution",
            "Could not resolve host",
            "Connection refused",
            "UnknownHostException",
            "ENETUNREACH",
            "EAI_AGAIN",
            "ECONNREFUSED",
        ];
        (self.says(SAID) && self.holds(Wall::Network)).then_some(Cause::NoNetwork)
    }

    /// The words are those of Python, Node and Java.
    fn file(&self) -> Option<Cause> {
        let (_, rest) = (self.text.rsplit_once("FileNotFoundError: "))
            .or_else(|| self.text.rsplit_once("ENOENT: "))?;
        let file = rest.split('\'').nth(1).filter(|file| !file.is_empty())?;
        let file = PathBuf::from(file);
        let is_there = self.directory.join(&file).exists();
        let directory = self.directory.to_owned();
        match (is_there, file.is_relative()) {
            (true, _) if self.holds(Wall::Files) => Some(Cause::Hidden { file }),
            (false, true) => Some(Cause::NoFile { file, directory }),
            _ => None,
        }
    }

    fn standard_input(&self) -> Option<Cause> {
        let (what, lines) = split_last_words(self.text);
        let at_its_end = PrintedError::in_lines(&lines)
            .is_some_and(|error| error.message.starts_with("EOFError"));
        // Of a kit that was not served it says so itself.
        let at_once = what.starts_with("exited with code 0 before it listened")
            && !self.says(&["was never served"]);
        let is_ours = matches!(self.foul, Foul::NoStart { .. } | Foul::Crashed { .. });
        (is_ours && (at_its_end || at_once)).then_some(Cause::StandardInput)
    }

    fn signal(&self) -> Option<Cause> {
        let (what, _) = split_last_words(self.text);
        let killed = [
            "killed by SIGSEGV",
            "killed by SIGBUS",
            "killed by SIGFPE",
            "aborted in ",
        ];
        let killed =
            killed.iter().any(|by| what.contains(by)) || what.starts_with("killed by SIGABRT");
        killed.then(|| Cause::Signal(self.runs()))
    }

    fn runs(&self) -> Runs {
        if self.interface() == Interface::Strategy {
            return Runs::Strategy;
        }
        let program = self.command.first().map_or("", String::as_str);
        let name = program.rsplit('/').next().unwrap_or(program);
        if name.starts_with("python") {
            return Runs::Python;
        }
        let needs = self.entry.launcher().needs(self.directory);
        match needs.contains(&machine_label()) {
            true => Runs::Compiled,
            false => Runs::Other,
        }
    }
}

/// The name of a function or a variable in C++ source, of the name that its compiler gave it
/// (Itanium C++ ABI, 5.1): of those without templates.
fn source_name(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_Z")?;
    let is_nested = rest.starts_with('N');
    rest = rest.trim_start_matches(['N', 'K']);
    let mut names = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length: usize = rest.get(..digits)?.parse().ok()?;
        let end = digits.checked_add(length)?;
        names.push(rest.get(digits..end)?);
        rest = &rest[end..];
        if !is_nested || rest.starts_with('E') {
            return Some(names.join("::"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Schemes;

    fn no_start(detail: &str) -> Foul {
        Foul::NoStart {
            detail: detail.to_owned(),
        }
    }

    fn failed(message: &str) -> Foul {
        Foul::ErrorStatus {
            code: 13,
            message: message.to_owned(),
        }
    }

    /// In a folder with a shared object and a file; with all walls, or with none.
    fn cause(spec: &str, foul: &Foul, is_walled: bool) -> Option<Cause> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["my.so", "there.bin"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let walls = Walls {
            held: Wall::ALL.into(),
            ..Walls::default()
        };
        let entry = Entry::read(spec, &Schemes::with(Vec::new())).unwrap();
        let found = cause_of(foul, &entry, folder.path(), is_walled.then_some(&walls));
        match found {
            Some(Cause::NoFile { file, directory }) => {
                assert_eq!(directory, folder.path());
                Some(Cause::NoFile {
                    file,
                    directory: "HERE".into(),
                })
            }
            found => found,
        }
    }

    #[test]
    fn a_cause_is_known_by_what_was_printed() {
        const PYTHON: &str = "exec:python3 my_bot.py";
        let eof = "exited with code 1 before it listened; its last words:   File \"my_bot.py\", \
                   line 2 /     column = input() / EOFError: EOF when reading a line";
        for (spec, foul, expected) in [
            (PYTHON, no_start(eof), Cause::StandardInput),
            (
                "exec:./my_bot",
                no_start("exited with code 0 before it listened (with a kit, …)"),
                Cause::StandardInput,
            ),
            (
                PYTHON,
                failed("exception in get_point: OSError: [Errno 30] Read-only file system: 'a'"),
                Cause::ReadOnly,
            ),
            (
                PYTHON,
                failed(
                    "exception in get_point: urllib.error.URLError: <urlopen error [Errno 101] \
                        Network is unreachable> (my_bot.py:4)",
                ),
                Cause::NoNetwork,
            ),
            (
                PYTHON,
                no_start(
                    "exception in the constructor: FileNotFoundError: [Errno 2] No such file \
                          or directory: 'weights.bin' (my_bot.py:5)",
                ),
                Cause::NoFile {
                    file: "weights.bin".into(),
                    directory: "HERE".into(),
                },
            ),
            (
                PYTHON,
                no_start(
                    "exception in the constructor: FileNotFoundError: [Errno 2] No such file \
                          or directory: 'there.bin' (my_bot.py:5)",
                ),
                Cause::Hidden {
                    file: "there.bin".into(),
                },
            ),
            (
                PYTHON,
                no_start(
                    "exception in the constructor: TypeError: Mine.__init__() takes 1 \
                          positional argument but 2 were given",
                ),
                Cause::NoStartArgument,
            ),
            (
                PYTHON,
                no_start(
                    "exited with code 1 before it listened; its last words: TypeError: Mine \
                          lacks get_draw, get_opp_discard",
                ),
                Cause::NoMethod {
                    methods: "get_draw, get_opp_discard".to_owned(),
                },
            ),
            (
                PYTHON,
                Foul::Crashed {
                    detail: "killed by SIGSEGV".to_owned(),
                },
                Cause::Signal(Runs::Python),
            ),
            (
                "exec:./my.so",
                no_start("killed by SIGSEGV before it listened"),
                Cause::SharedObject {
                    file: "./my.so".into(),
                },
            ),
            (
                "exec:python3 '~/my_bot.py'",
                no_start("exited with code 2 before it listened"),
                Cause::Tilde {
                    word: "~/my_bot.py".to_owned(),
                },
            ),
            (
                PYTHON,
                Foul::Unsupported {
                    detail: "it plays othello and mahjong".to_owned(),
                },
                Cause::OtherGame {
                    game: "othello".to_owned(),
                },
            ),
            (
                "grpcs://localhost:5001",
                Foul::Unreachable {
                    detail: "no TLS handshake: invalid peer certificate: UnknownIssuer".to_owned(),
                },
                Cause::UnknownIssuer,
            ),
        ] {
            assert_eq!(cause(spec, &foul, true), Some(expected), "{foul:?}");
        }
    }

    #[test]
    fn what_may_have_another_cause_has_none() {
        let read_only = failed("OSError: [Errno 30] Read-only file system: 'a'");
        let unreachable = failed("OSError: [Errno 101] Network is unreachable");
        for (spec, foul) in [
            // Nobody keeps them from it.
            ("exec:./my_bot", read_only.clone()),
            ("exec:./my_bot", unreachable.clone()),
            (
                "exec:./my_bot",
                failed("FileNotFoundError: [Errno 2]: '/there'"),
            ),
            (
                "exec:./my_bot",
                no_start("exited with code 1 before it listened"),
            ),
            (
                "exec:./my_bot",
                no_start(
                    "exited with code 0 before it listened (…); its last words: Bot('mine', \
                          …) was never served: call its main()",
                ),
            ),
            ("exec:./my_bot", failed("undefined symbol: _Z1av")),
            ("exec:./my_bot", Foul::HungUp),
            (
                "exec:./my_bot",
                Foul::Unsupported {
                    detail: "UNIMPLEMENTED".to_owned(),
                },
            ),
        ] {
            assert_eq!(cause(spec, &foul, false), None, "{foul:?}");
        }
        for foul in [read_only, unreachable] {
            assert_eq!(
                cause("grpc://localhost:5001", &foul, true),
                None,
                "{foul:?}"
            );
        }
    }

    #[test]
    fn a_symbol_is_shown_as_its_author_wrote_it() {
        for (symbol, name) in [
            ("_Z5judgei", Some("judge")),
            ("_ZN5Judge4testEPKi", Some("Judge::test")),
            ("_ZNK5Judge4testEv", Some("Judge::test")),
            ("judge", None),
            ("_Z", None),
            ("_Z99judge", None),
            ("_ZSt4cout", None),
        ] {
            assert_eq!(source_name(symbol).as_deref(), name, "{symbol}");
        }
    }
}
