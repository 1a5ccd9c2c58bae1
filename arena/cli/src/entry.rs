//! Who plays: `NAME=SPEC` as a person writes it, and the bot that it means.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use referee::{Address, Bot, Launch, Memory, Supervisor};
use referee_core::GameInfo;
use strategy_adapter::Strategy;
use tokio::runtime::Handle;

use crate::usage;

/// A bot of a run: what it is called and how it is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What it is called in tables and records.
    pub(crate) name: String,
    /// As it was written.
    pub(crate) spec: String,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// The arena starts itself as this bot.
    House(String),
    /// The arena starts this command.
    Exec(Vec<String>),
    /// The arena starts itself as the adapter of this compiled strategy.
    Strategy(Strategy),
    /// It runs somewhere.
    Address(Address),
}

/// How a bot's process is had.
pub(crate) enum Had {
    /// It runs there.
    There(Address),
    /// We start it.
    Started(Launch),
}

/// What a SPEC begins with, and whether this version can play it.
const SCHEMES: &[(&str, bool)] = &[
    ("house:", true),
    ("exec:", true),
    ("grpc://", true),
    ("tcp:", true),
    ("unix:", true),
    ("image:", false),
    ("strategy:", true),
];

const EXPECTED: &str = "expected SPEC or NAME=SPEC, where SPEC is house:NAME, exec:COMMAND, \
                        strategy:FILE.so, grpc://HOST:PORT or unix:PATH";

impl Entry {
    /// Reads `NAME=SPEC`, or a SPEC that names itself.
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let known = |text: &str| SCHEMES.iter().find(|(scheme, _)| text.starts_with(scheme));
        let (name, spec) = if known(text).is_some() {
            (None, text)
        } else {
            match text.split_once('=') {
                Some((name, spec)) => (Some(name), spec),
                None => (None, text),
            }
        };
        let Some((scheme, playable)) = known(spec) else {
            let hint = match meant(text).or_else(|| meant(spec)) {
                Some(meant) => format!("; did you mean {meant}?"),
                None => String::new(),
            };
            return usage(format!("{text}: {EXPECTED}{hint}"));
        };
        if !playable {
            return usage(format!(
                "{text}: this version does not start {scheme} bots; {EXPECTED}"
            ));
        }
        let source = Self::source(scheme, spec)?;
        let name = name.map_or_else(|| source.name(), str::to_owned);
        let good = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let begins = name.starts_with(char::is_alphanumeric);
        if !begins || name.len() > 40 || !name.chars().all(good) {
            return usage(format!(
                "{text}: a name is 1 to 40 letters, digits, dots, hyphens and underscores and begins with one of the first two, found \"{name}\""
            ));
        }
        Ok(Self {
            name,
            spec: spec.to_owned(),
            source,
        })
    }

    /// Whether this says how a bot is had, and is not only a name.
    pub(crate) fn is_spec(text: &str) -> bool {
        SCHEMES.iter().any(|(scheme, _)| text.starts_with(scheme))
    }

    /// Reads all of them; no two may have the same name.
    pub(crate) fn read_all(texts: &[String]) -> anyhow::Result<Vec<Self>> {
        let mut entries: Vec<Self> = Vec::new();
        for text in texts {
            let entry = Self::read(text)?;
            if entries.iter().any(|known| known.name == entry.name) {
                return usage(format!(
                    "{text}: there is a bot called \"{}\" already; give this one another name, as in other={}",
                    entry.name, entry.spec
                ));
            }
            if let Source::Address(address) = &entry.source
                && entries.iter().any(|known| known.source == entry.source)
            {
                return usage(format!(
                    "{text}: another bot is at {address} too, and one process can't sit in two seats; start a second one"
                ));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    fn source(scheme: &str, spec: &str) -> anyhow::Result<Source> {
        let rest = &spec[scheme.len()..];
        match scheme {
            "house:" => {
                if let Err(error) = house_bots::bot(rest) {
                    return usage(format!("{error}"));
                }
                Ok(Source::House(rest.to_owned()))
            }
            "exec:" => match shlex::split(rest) {
                Some(words) if !words.is_empty() => Ok(Source::Exec(words)),
                Some(_) => usage("exec: expected a command, as in exec:./my_bot --fast"),
                None => usage(format!("{spec}: a quotation mark is not closed")),
            },
            "strategy:" => match rest.parse() {
                Ok(strategy) => Ok(Source::Strategy(strategy)),
                Err(error) => usage(format!("{spec}: {error}; {}", strategy_adapter::EXPECTED)),
            },
            _ => match spec.parse() {
                Ok(address) => Ok(Source::Address(address)),
                Err(error) => usage(format!("{error}")),
            },
        }
    }

    /// Says no where it is a file that is not there, or is none to be played.
    pub(crate) fn must_be_there(&self) -> anyhow::Result<()> {
        match &self.source {
            Source::Strategy(strategy) => strategy.look().or_else(|error| usage(error.to_string())),
            _ => Ok(()),
        }
    }

    /// What somebody who checks it may want to know and no game shows.
    pub(crate) fn remark(&self) -> Option<&'static str> {
        match &self.source {
            Source::Strategy(strategy) if strategy.trusts_clock() => Some(
                "it calls clock(), which counts millionths of a second here; if it was \
                 written where CLOCKS_PER_SEC is 1000 and does not divide by that, say \
                 FILE.so?clock-scale=1000, or it thinks a thousandth of what it should",
            ),
            _ => None,
        }
    }

    /// Whether it refuses games that begin in the middle, as it was written.
    pub(crate) const fn begins_at_the_beginning(&self) -> bool {
        matches!(&self.source, Source::Strategy(strategy) if strategy.keeps_globals)
    }

    /// Says no where it is known without starting it that it does not play this
    /// game.
    pub(crate) fn must_play(&self, game: &GameInfo) -> anyhow::Result<()> {
        if let Source::Strategy(_) = &self.source {
            if game.name != strategy_adapter::GAME {
                return usage(format!(
                    "{}: a compiled strategy plays connect-four, not {}",
                    self.spec,
                    game.name.replace('_', "-")
                ));
            }
            return self.must_be_there();
        }
        if let Source::House(spec) = &self.source
            && let Some(bot) = house_bots::named(spec)
            && !bot.games.include(game.name)
        {
            return usage(format!(
                "{}: house bot \"{}\" does not play {}; it plays {}",
                self.spec,
                bot.name,
                game.name,
                bot.games.names()
            ));
        }
        Ok(())
    }

    /// Whether the arena starts its processes, and so can start fresh ones.
    pub(crate) const fn is_ours_to_start(&self) -> bool {
        !matches!(self.source, Source::Address(_))
    }

    /// Whether it is a stranger's program that runs as we do.
    pub(crate) const fn is_exec(&self) -> bool {
        matches!(self.source, Source::Exec(_) | Source::Strategy(_))
    }

    /// The bot, ready to be started when a game needs it, with processes of
    /// its own for this lot of games.
    pub(crate) fn bot(&self, start: &Start, lot: u64) -> anyhow::Result<Arc<Bot>> {
        self.bot_with(start, start.memory.clone(), lot)
    }

    /// The same with a memory limit, or a gauge, of its own.
    pub(crate) fn bot_with(
        &self,
        start: &Start,
        memory: Memory,
        lot: u64,
    ) -> anyhow::Result<Arc<Bot>> {
        Ok(Arc::new(match self.had(start, memory, lot)? {
            Had::There(address) => Bot::at(address, start.limit),
            Had::Started(launch) => Bot::launched(launch, Handle::current()),
        }))
    }

    /// How its process is had.
    pub(crate) fn had(&self, start: &Start, memory: Memory, lot: u64) -> anyhow::Result<Had> {
        let (program, arguments) = match &self.source {
            Source::Address(address) => return Ok(Had::There(address.clone())),
            Source::House(spec) => (
                std::env::current_exe()?,
                vec!["bot".into(), spec.clone().into()],
            ),
            Source::Strategy(strategy) => (
                std::env::current_exe()?,
                vec!["strategy".into(), "--".into(), strategy.to_string().into()],
            ),
            Source::Exec(words) => (
                words[0].clone().into(),
                words[1..].iter().map(Into::into).collect(),
            ),
        };
        // That there is no room for its socket would be no fault of the bot's.
        referee::folder_for_a_socket()
            .context("could not make a folder among the temporary files (TMPDIR)")?;
        let log = match lot {
            0 => format!("{}.log", self.name),
            lot => format!("{}-lot{lot}.log", self.name),
        };
        let launch = Launch {
            program,
            arguments,
            start_limit: start.limit,
            memory,
            log: start.logs.as_ref().map(|logs| logs.join(log)),
            supervisor: Some(start.supervisor.clone()),
        };
        Ok(Had::Started(launch))
    }
}

/// The SPEC of who has left out what it begins with: a file, a command with one, or
/// an address.
fn meant(text: &str) -> Option<String> {
    let is_file = |word: &str| Path::new(word).is_file();
    if is_file(text) && text.ends_with(".so") {
        return Some(format!("strategy:{text}"));
    }
    if is_file(text) {
        // Without a slash it would be looked for where programs are.
        let here = if text.contains('/') { "" } else { "./" };
        let program = format!("{here}{text}");
        return Some(format!("exec:{}", shlex::try_quote(&program).ok()?));
    }
    if shlex::split(text)?.iter().any(|word| is_file(word)) {
        return Some(format!("exec:{text}"));
    }
    let place = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .unwrap_or(text)
        .trim_end_matches('/');
    let (host, _) = place.rsplit_once(':')?;
    let of_a_host = |c: char| c.is_alphanumeric() || ".-[]:".contains(c);
    let spec = format!("grpc://{place}");
    let good = !host.is_empty() && host.chars().all(of_a_host) && spec.parse::<Address>().is_ok();
    good.then_some(spec)
}

/// What all processes of a run are started with.
pub(crate) struct Start {
    /// How long one has until it is ready to play.
    pub(crate) limit: Duration,
    pub(crate) memory: Memory,
    /// Where their output goes.
    pub(crate) logs: Option<PathBuf>,
    supervisor: Arc<Supervisor>,
    lots: Cell<u64>,
}

impl Start {
    /// Starts what kills the bots if we die.
    pub(crate) fn new(
        limit: Duration,
        memory: Memory,
        logs: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("supervise");
        let supervisor = Supervisor::start(command).context("could not start the supervisor")?;
        Ok(Self {
            limit,
            memory,
            logs,
            supervisor: Arc::new(supervisor),
            lots: Cell::new(0),
        })
    }

    /// The number of the next lot of games, from 0.
    pub(crate) fn next_lot(&self) -> u64 {
        self.lots.replace(self.lots.get() + 1)
    }
}

impl Source {
    /// What to call a bot that nobody has named.
    fn name(&self) -> String {
        let name = match self {
            Self::House(spec) => spec.split('?').next().unwrap_or(spec).to_owned(),
            Self::Exec(words) => Path::new(&words[0])
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            Self::Strategy(strategy) => strategy.name(),
            Self::Address(address) => address.to_string(),
        };
        name.chars()
            .map(|c| {
                if c.is_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .take(40)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Entry::read(text).unwrap_err().to_string()
    }

    #[test]
    fn names_are_given_or_found() {
        for (text, name, spec) in [
            ("a=house:uct?time=200ms", "a", "house:uct?time=200ms"),
            ("house:uct?time=200ms", "uct", "house:uct?time=200ms"),
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
                "grpc://localhost:50051",
                "tcp-localhost-50051",
                "grpc://localhost:50051",
            ),
            (
                "strategy:./old/my strategy.so?clock-scale=1000",
                "my-strategy",
                "strategy:./old/my strategy.so?clock-scale=1000",
            ),
        ] {
            let entry = Entry::read(text).unwrap();
            assert_eq!((&*entry.name, &*entry.spec), (name, spec), "{text}");
        }
    }

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let entry = Entry::read("a=exec:'./my bot' --say 'a b'").unwrap();
        let words = ["./my bot", "--say", "a b"].map(str::to_owned).to_vec();
        assert_eq!(entry.source, Source::Exec(words));
    }

    #[test]
    fn errors_say_what_to_do() {
        assert!(error("./my_bot").contains("expected SPEC or NAME=SPEC"));
        assert!(error("a=./my_bot").contains("expected SPEC or NAME=SPEC"));
        assert!(error("127.0.0.1:5001").contains("did you mean grpc://127.0.0.1:5001?"));
        assert!(error("a=http://[::1]:5001/").contains("did you mean grpc://[::1]:5001?"));
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
            let meant = format!("did you mean {before}{file}{after}?");
            for text in [file.clone(), format!("a={file}")] {
                assert!(error(&text).contains(&meant), "{}", error(&text));
            }
        }
        let command = format!("python3 {folder}/my_bot");
        assert!(error(&command).contains(&format!("did you mean exec:{command}?")));
        // This is where the tests of a crate run.
        assert!(error("Cargo.toml").contains("did you mean exec:./Cargo.toml?"));
        for no_place in ["./no:12", "C:\\bot:1", "grcp://h:1", ":5001", "h:x", "."] {
            assert!(!error(no_place).contains("did you mean"), "{no_place}");
        }
        assert!(error("a=house:radnom").contains("did you mean random?"));
        assert!(error("a=image:x/y:1").contains("does not start image: bots"));
        assert!(error("strategy:").contains("expected strategy:FILE.so"));
        assert!(error("strategy:a.so?x=1").contains("there is no parameter \"x\""));
        assert!(error("..=house:random").contains("begins with"));
        assert!(error("a=grpc://localhost").contains("expected grpc://HOST:PORT"));
        assert!(error("a=exec:").contains("expected a command"));
        assert!(error("a=exec:'x").contains("not closed"));
        assert!(error("a b=house:random").contains("a name is"));
        let twice = ["house:random", "house:random"].map(str::to_owned);
        let why = Entry::read_all(&twice).unwrap_err().to_string();
        assert!(why.contains("other=house:random"), "{why}");
    }
}
