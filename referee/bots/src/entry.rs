//! A bot of a run: `NAME=SPEC` as a person writes it.

use std::{collections::HashSet, ffi::OsStr, fmt, path::Path, sync::Arc};

use referee::Address;
use referee_core::{GameInfo, is_printable, printable};
use referee_sandbox::{is_executable, is_of_a_runtime, is_shell};

use crate::{Launcher, Reach, Schemes, Trust, hint::interpreter};

/// Longest name, in characters.
const LONGEST_NAME: usize = 40;

/// A bot of a run: its name, and how to start or reach it.
#[derive(Clone)]
pub struct Entry {
    /// Name in tables and records.
    pub name: String,
    /// The SPEC of how to start or reach it, as it was written, or so that it is this very
    /// bot later too.
    pub spec: String,
    launcher: Arc<dyn Launcher>,
}

/// The reason why a text is no entry, or an entry can't take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The text is invalid: what was written, what was expected, and what to do.
    #[error("{0}")]
    Invalid(String),
    /// Two have one name.
    #[error(
        "{text}: there is a bot called \"{name}\" already; give this one another name, as in \
         other={spec}"
    )]
    NameTaken {
        /// The text that was written.
        text: String,
        /// The name.
        name: String,
        /// The second one's SPEC.
        spec: String,
    },
}

impl Entry {
    /// The set-up that the first of these bots needs that needs one, in the notation of its game.
    #[must_use]
    pub fn usual_setup(bots: &[Self]) -> Option<&'static str> {
        bots.iter().find_map(|bot| bot.launcher().usual_setup())
    }

    /// Reads `NAME=SPEC`, or a SPEC that names itself.
    ///
    /// # Errors
    ///
    /// [`EntryError`] says what was expected.
    pub fn read(text: &str, schemes: &Schemes) -> Result<Self, EntryError> {
        let (name, spec) = match text.split_once('=') {
            Some((name, spec)) if !Self::is_spec(text, schemes) => (Some(name), spec),
            _ => (None, text),
        };
        // `"me=exec:./my_bot"`: the name would have a quotation mark.
        let quoted = unquoted(text).is_some();
        let Some((scheme, rest)) = schemes.find(spec).filter(|_| !quoted) else {
            let forms = schemes.forms();
            let meant = suggestion(text, schemes)
                .map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
            return Err(EntryError::Invalid(format!(
                "{text}: expected SPEC or NAME=SPEC, where SPEC is {forms}{meant}"
            )));
        };
        if !Self::is_shown(spec) {
            return Err(EntryError::Invalid(format!(
                "{}: a SPEC has no control characters but tabs and ends of lines",
                printable(text)
            )));
        }
        let launcher = (scheme.read)(spec, rest).map_err(EntryError::Invalid)?;
        let name = name.map_or_else(|| name_like(&launcher.default_name()), str::to_owned);
        if let Err(error) = Self::check_name(&name) {
            return Err(EntryError::Invalid(format!("{text}: {error}")));
        }
        Ok(Self {
            name,
            spec: launcher.lasting_spec().unwrap_or_else(|| spec.to_owned()),
            launcher,
        })
    }

    /// Checks that a text is a name. It becomes part of the names of files.
    ///
    /// # Errors
    ///
    /// [`EntryError`] says what was expected.
    pub fn check_name(name: &str) -> Result<(), EntryError> {
        let begins = name.starts_with(char::is_alphanumeric);
        if begins && name.chars().count() <= LONGEST_NAME && name.chars().all(is_of_a_name) {
            return Ok(());
        }
        Err(EntryError::Invalid(format!(
            "a name is 1 to 40 letters, digits, dots, hyphens and underscores and begins with \
             one of the first two, found \"{}\"",
            printable(name)
        )))
    }

    /// True if a SPEC can be shown: of control characters it may have tabs and ends of lines,
    /// as a command for a shell does.
    #[must_use]
    pub fn is_shown(spec: &str) -> bool {
        spec.chars()
            .all(|c| is_printable(c) || c == '\n' || c == '\t')
    }

    /// Reads all of them; no two may have one name or one address.
    ///
    /// # Errors
    ///
    /// [`EntryError`] says what was expected.
    pub fn read_all<T: AsRef<str>>(
        texts: &[T],
        schemes: &Schemes,
    ) -> Result<Vec<Self>, EntryError> {
        let mut entries: Vec<Self> = Vec::new();
        let (mut names, mut addresses) = (HashSet::new(), HashSet::new());
        for text in texts {
            let text = text.as_ref();
            let entry = Self::read(text, schemes)?;
            if !names.insert(entry.name.clone()) {
                return Err(EntryError::NameTaken {
                    text: text.to_owned(),
                    name: entry.name,
                    spec: entry.spec,
                });
            }
            if let Reach::Address(address) = entry.launcher.reach()
                && !addresses.insert(address.clone())
            {
                return Err(EntryError::Invalid(format!(
                    "{text}: another bot is at {address} too, and one process can't sit in two \
                     seats; start a second one"
                )));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// True if a text is a SPEC, and not only a name.
    #[must_use]
    pub fn is_spec(text: &str, schemes: &Schemes) -> bool {
        schemes.find(text).is_some()
    }

    /// The launcher, which starts or reaches it.
    #[must_use]
    pub fn launcher(&self) -> &dyn Launcher {
        &*self.launcher
    }

    /// The same bot under another name.
    #[must_use]
    pub fn renamed(&self, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..self.clone()
        }
    }

    /// True if we start its processes, and so can start fresh ones.
    #[must_use]
    pub fn is_started_by_us(&self) -> bool {
        self.launcher.trust() != Trust::Remote
    }

    /// True if it is somebody's program that runs with our own rights.
    #[must_use]
    pub fn is_foreign_process(&self) -> bool {
        self.launcher.trust() == Trust::Process
    }

    /// Checks that its files are there. Relative paths are those of `directory`.
    ///
    /// # Errors
    ///
    /// [`EntryError::Invalid`]
    pub fn check_files(&self, directory: &Path) -> Result<(), EntryError> {
        let checked = self.launcher.check_files(directory);
        checked.map_err(EntryError::Invalid)
    }

    /// Checks that it plays this game, as far as that can be known without starting it.
    ///
    /// # Errors
    ///
    /// [`EntryError::Invalid`]
    pub fn check_plays(&self, game: &GameInfo) -> Result<(), EntryError> {
        let plays = self.launcher.check_game(game);
        plays.map_err(|why| EntryError::Invalid(format!("{}: {why}", self.spec)))
    }

    /// Checks that it plays this game, as far as that can be known without starting it, and
    /// that its files are there.
    ///
    /// # Errors
    ///
    /// [`EntryError::Invalid`]
    pub fn check_game(&self, game: &GameInfo, directory: &Path) -> Result<(), EntryError> {
        self.check_plays(game)?;
        self.check_files(directory)
    }
}

/// Two entries are the same if they are written the same.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.spec) == (&other.name, &other.spec)
    }
}

impl Eq for Entry {}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({}={})", self.name, self.spec)
    }
}

/// True if a name may contain this character.
#[must_use]
pub fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c)
}

/// A text as a name, with hyphens for what can't be in one.
fn name_like(text: &str) -> String {
    let chars = text.chars().map(|c| if is_of_a_name(c) { c } else { '-' });
    chars.take(LONGEST_NAME).collect()
}

/// The text that was meant, with its name, where it is no SPEC: it lacks a prefix, or is in
/// quotation marks.
fn suggestion(text: &str, schemes: &Schemes) -> Option<String> {
    let inner = unquoted(text);
    if let Some(inner) = inner
        && is_entry(inner, schemes)
    {
        return Some(inner.to_owned());
    }
    let text = inner.unwrap_or(text);
    let named = text.split_once('=').filter(|(name, _)| {
        // A file may have the sign in its name.
        Entry::check_name(name).is_ok() && !Path::new(text).is_file()
    });
    let Some((name, spec)) = named else {
        return spec_meant(text, schemes);
    };
    if let Some(prefix) = schemes.prefix_of(name) {
        return Some(format!("{prefix}{spec}"));
    }
    spec_meant(spec, schemes).map(|spec| format!("{name}={spec}"))
}

/// True for a SPEC, and for one with a name.
fn is_entry(text: &str, schemes: &Schemes) -> bool {
    let named = text.split_once('=').is_some_and(|(name, spec)| {
        Entry::check_name(name).is_ok() && Entry::is_spec(spec, schemes)
    });
    named || Entry::is_spec(text, schemes)
}

/// A text without the quotation marks around it.
fn unquoted(text: &str) -> Option<&str> {
    let marks = ['"', '\''];
    marks
        .iter()
        .find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark))
}

/// The SPEC of a text without a prefix: the name of a bot, a file, a command, or an address.
fn spec_meant(text: &str, schemes: &Schemes) -> Option<String> {
    if let Some(inner) = unquoted(text) {
        return match Entry::is_spec(inner, schemes) {
            true => Some(inner.to_owned()),
            false => spec_meant(inner, schemes),
        };
    }
    // `exec python3 my_bot.py`
    if let Some((word, rest)) = text.split_once(' ')
        && let Some(prefix) = schemes.prefix_of(word)
    {
        return Some(format!("{prefix}{}", rest.trim_start()));
    }
    schemes
        .completed(text)
        .or_else(|| file_meant(text))
        .or_else(|| command_meant(text))
        .or_else(|| address_meant(text))
}

/// The SPEC of a file.
fn file_meant(text: &str) -> Option<String> {
    let (file, is_there) = match text.strip_prefix("~/") {
        // A shell does not replace it here, and we do not know whose home it is.
        Some(rest) if !rest.contains(' ') => (format!("$HOME/{rest}"), false),
        _ => (text.to_owned(), Path::new(text).is_file()),
    };
    if !is_there && file == text {
        return None;
    }
    if text.ends_with(".so") {
        return Some(format!("strategy:{file}"));
    }
    if !is_there {
        return Some(format!("exec:{file}"));
    }
    // Without a slash it would be looked for where programs are.
    let here = if text.contains('/') { "" } else { "./" };
    let program = format!("{here}{text}");
    let quoted = shlex::try_quote(&program).ok()?;
    let run_by = interpreter(Path::new(text)).filter(|_| !is_executable(Path::new(text)));
    Some(match run_by {
        Some(interpreter) => format!("exec:{interpreter} {}", shlex::try_quote(text).ok()?),
        None => format!("exec:{quoted}"),
    })
}

/// The SPEC of a command that has a file in it, or begins with a program that runs files.
fn command_meant(text: &str) -> Option<String> {
    let words = shlex::split(text)?;
    let (program, arguments) = words.split_first()?;
    let name = OsStr::new(program);
    let runs_files = (is_of_a_runtime(name) || is_shell(name)) && !arguments.is_empty();
    let has_file = words.iter().any(|word| Path::new(word).is_file());
    (runs_files || has_file).then(|| format!("exec:{text}"))
}

/// The SPEC of an address.
fn address_meant(text: &str) -> Option<String> {
    let (scheme, place) = match text.strip_prefix("https://") {
        Some(place) => ("grpcs://", place),
        None => ("grpc://", text.strip_prefix("http://").unwrap_or(text)),
    };
    let place = place.trim_end_matches('/');
    let (host, _) = place.rsplit_once(':')?;
    let of_a_host = |c: char| c.is_alphanumeric() || ".-[]:".contains(c);
    let spec = format!("{scheme}{place}");
    let good = !host.is_empty() && host.chars().all(of_a_host) && spec.parse::<Address>().is_ok();
    good.then_some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Entry, EntryError> {
        Entry::read(text, &Schemes::with(Vec::new()))
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn names_are_given_or_found() {
        for (text, name, spec) in [
            (
                "exec:./bots/my_bot.py --fast",
                "my_bot",
                "exec:./bots/my_bot.py --fast",
            ),
            (
                "b=exec:python3 bot.py --x=1",
                "b",
                "exec:python3 bot.py --x=1",
            ),
            (
                "exec:./самый_лучший_бот_на_свете",
                "самый_лучший_бот_на_свете",
                "exec:./самый_лучший_бот_на_свете",
            ),
            (
                "grpc://localhost:50051",
                "tcp-localhost-50051",
                "grpc://localhost:50051",
            ),
        ] {
            let entry = read(text).unwrap();
            assert_eq!((&*entry.name, &*entry.spec), (name, spec), "{text}");
        }
    }

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let entry = read("a=exec:'./my bot' --say 'a b'").unwrap();
        let Reach::Program { program, arguments } = entry.launcher.reach() else {
            panic!("it is a program");
        };
        assert_eq!(program, Path::new("./my bot"));
        assert_eq!(arguments, ["--say", "a b"]);
    }

    #[test]
    fn errors_say_what_to_do() {
        assert!(error("./my_bot").contains("expected SPEC or NAME=SPEC"));
        assert!(error("a=./my_bot").contains("expected SPEC or NAME=SPEC"));
        assert!(error("127.0.0.1:5001").contains("did you mean grpc://127.0.0.1:5001?"));
        assert!(error("a=http://[::1]:5001/").contains("did you mean a=grpc://[::1]:5001?"));
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().display();
        for (name, before, after) in [
            ("my.so", "strategy:", ""),
            ("my_bot", "exec:", ""),
            ("my=bot", "exec:'", "'"),
            ("my bot", "exec:'", "'"),
        ] {
            let file = format!("{folder}/{name}");
            std::fs::write(&file, "").unwrap();
            for name in ["", "a="] {
                let meant = format!("did you mean {name}{before}{file}{after}?");
                let told = error(&format!("{name}{file}"));
                assert!(told.contains(&meant), "{told}");
            }
        }
        let command = format!("python3 {folder}/my_bot");
        assert!(error(&command).contains(&format!("did you mean exec:{command}?")));
        // This is where the tests of a crate run.
        assert!(error("Cargo.toml").contains("did you mean exec:./Cargo.toml?"));
        std::fs::write(format!("{folder}/my.py"), "").unwrap();
        for (text, meant) in [
            (
                format!("me={folder}/my.py"),
                format!("me=exec:python3 {folder}/my.py"),
            ),
            (
                format!("me=python3 {folder}/my.py"),
                format!("me=exec:python3 {folder}/my.py"),
            ),
            (
                "me=python3 not_there.py".to_owned(),
                "me=exec:python3 not_there.py".to_owned(),
            ),
            (
                "me=python3.11 not_there.py".to_owned(),
                "me=exec:python3.11 not_there.py".to_owned(),
            ),
            (
                "exec venv/bin/python my.py".to_owned(),
                "exec:venv/bin/python my.py".to_owned(),
            ),
            (
                "me=exec python3 my.py".to_owned(),
                "me=exec:python3 my.py".to_owned(),
            ),
            (
                "exec=python3 my.py".to_owned(),
                "exec:python3 my.py".to_owned(),
            ),
            (
                "\"me=exec:./my_bot\"".to_owned(),
                "me=exec:./my_bot".to_owned(),
            ),
            (
                "me='exec:./my_bot'".to_owned(),
                "me=exec:./my_bot".to_owned(),
            ),
            (
                "me=\"python3 my.py\"".to_owned(),
                "me=exec:python3 my.py".to_owned(),
            ),
            ("me=~/my_bot".to_owned(), "me=exec:$HOME/my_bot".to_owned()),
        ] {
            let told = error(&text);
            assert!(told.ends_with(&format!("did you mean {meant}?")), "{told}");
        }
        for no_place in ["./no:12", "C:\\bot:1", "grcp://h:1", ":5001", "h:x", "."] {
            assert!(!error(no_place).contains("did you mean"), "{no_place}");
        }
        assert!(error("..=exec:a").contains("begins with"));
        assert!(error("a=grpc://localhost").contains("expected grpc://HOST:PORT"));
        assert!(error("a=exec:").contains("expected a command"));
        assert!(error("a=exec:'x").contains("not closed"));
        assert!(error("a b=exec:a").contains("a name is"));
        let all = |texts: &[&str]| Entry::read_all(texts, &Schemes::with(Vec::new()));
        let why = all(&["exec:a", "exec:a"]).unwrap_err().to_string();
        assert!(why.contains("other=exec:a"), "{why}");
        let why = all(&["a=tcp:h:1", "b=grpc://h:1"]).unwrap_err().to_string();
        assert!(why.contains("start a second one"), "{why}");
    }
}
