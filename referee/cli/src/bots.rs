//! The kinds of bots that a program can start: built-in ones and compiled strategies, by
//! running itself, and images; the others come with `referee-worker`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use line_adapters::{GtpOptions, KaggleSpec, LineDialect, LineSpec};
use referee_bots::{
    CommandLine, Interface, Launcher, Reach, Scheme, Schemes, Trust, Unpinned, check_home,
    image_scheme, lobby_scheme, needs_of_file, program_in_path, stays_in_folder,
};
use referee_container::Containers;
use referee_core::GameInfo;
use referee_games::game_name;
use referee_sandbox::{Reexec, joined};
use strategy_adapter::Strategy;

use crate::{hidden, host::strategy_program};

/// The kinds of bots that a worker starts for an arena on another machine. A command that such
/// an arena sends is not run.
///
/// # Errors
///
/// The path of this program is not known.
pub fn travelling_schemes(unpinned: Unpinned) -> std::io::Result<Schemes> {
    let program = std::env::current_exe()?;
    let mut packed = vec![strategy(program.clone()), kaggle(program.clone())];
    packed.extend(LineDialect::NAMES.map(|dialect| lines(dialect, program.clone())));
    let image = image_scheme(containers()?, unpinned);
    Ok(Schemes::travelling(vec![built_in(program), image], packed))
}

/// The kinds of packed bots that a host becomes.
///
/// # Errors
///
/// The path of this program is not known.
pub fn hosted_schemes() -> std::io::Result<Schemes> {
    let program = std::env::current_exe()?;
    let strategy = match strategy_program(&program) {
        Some(apart) => strategy_of(apart, &[]),
        None => strategy(program.clone()),
    };
    let mut packed = vec![strategy, kaggle(program.clone())];
    packed.extend(LineDialect::NAMES.map(|dialect| lines(dialect, program.clone())));
    Ok(Schemes::travelling(Vec::new(), packed))
}

/// The starter of this process's containers.
///
/// # Errors
///
/// `/proc` can't be read.
pub fn containers() -> std::io::Result<Arc<Containers>> {
    static CONTAINERS: OnceLock<Arc<Containers>> = OnceLock::new();
    if let Some(containers) = CONTAINERS.get() {
        return Ok(containers.clone());
    }
    let reexec = Reexec::this_program([hidden::CONTAINER]);
    let containers = Arc::new(Containers::new(reexec)?);
    Ok(CONTAINERS.get_or_init(|| containers).clone())
}

fn built_in(program: PathBuf) -> Scheme {
    Scheme {
        prefixes: &["house:"],
        form: "house:NAME",
        names: house_bots::HOUSE.iter().map(|bot| bot.name).collect(),
        read: Box::new(move |_, rest| match house_bots::bot(rest) {
            Ok(_) => Ok(Arc::new(BuiltInLauncher {
                program: program.clone(),
                spec: rest.to_owned(),
            })),
            Err(error) => Err(error.to_string()),
        }),
    }
}

fn strategy(program: PathBuf) -> Scheme {
    strategy_of(program, &["strategy", "--"])
}

/// Compiled strategies, which this program plays after these words.
fn strategy_of(program: PathBuf, words: &'static [&'static str]) -> Scheme {
    Scheme {
        prefixes: &["strategy:"],
        form: "strategy:FILE.so",
        names: Vec::new(),
        read: Box::new(move |spec, rest| match rest.parse() {
            Ok(strategy) => Ok(Arc::new(Compiled {
                program: program.clone(),
                words,
                strategy,
            })),
            Err(error) => Err(format!("{spec}: {error}; {}", strategy_adapter::EXPECTED)),
        }),
    }
}

fn lines(dialect: &'static str, program: PathBuf) -> Scheme {
    let (prefixes, form): (&[&str], _) = match dialect {
        "gtp" => (&["gtp:"], "gtp:COMMAND"),
        _ => (&["stdio:"], "stdio:COMMAND"),
    };
    let read = move |rest: &str| LineSpec::read(dialect.parse()?, rest);
    Scheme {
        prefixes,
        form,
        names: Vec::new(),
        read: Box::new(move |spec, rest| match read(rest) {
            Ok(read) => Ok(Arc::new(OfLines {
                program: program.clone(),
                command: CommandLine::new(
                    read.command.program.clone(),
                    read.command.arguments.clone(),
                ),
                spec: read,
            })),
            Err(error) => Err(format!("{spec}: {error}")),
        }),
    }
}

fn kaggle(program: PathBuf) -> Scheme {
    Scheme {
        prefixes: &["kaggle:"],
        form: "kaggle:FILE.py",
        names: Vec::new(),
        read: Box::new(move |spec, rest| match KaggleSpec::read(rest) {
            Ok(read) => Ok(Arc::new(KaggleAgent::new(program.clone(), read))),
            Err(error) => Err(format!("{spec}: {error}")),
        }),
    }
}

/// Every kind of bot.
///
/// # Errors
///
/// The path of this program is not known.
pub fn schemes() -> std::io::Result<Schemes> {
    let program = std::env::current_exe()?;
    let mut schemes = vec![
        built_in(program.clone()),
        strategy(program.clone()),
        kaggle(program.clone()),
    ];
    schemes.extend(LineDialect::NAMES.map(|dialect| lines(dialect, program.clone())));
    schemes.push(image_scheme(containers()?, Unpinned::LookUp));
    schemes.push(lobby_scheme(lobby_folder()));
    Ok(Schemes::with(schemes))
}

/// The folder of the lobby on this machine: that of `ARENA_LOBBY`, or one below the current folder.
#[must_use]
pub fn lobby_folder() -> PathBuf {
    let folder = std::env::var_os("ARENA_LOBBY").filter(|folder| !folder.is_empty());
    folder.map_or_else(|| PathBuf::from("arena-runs/lobby"), PathBuf::from)
}

/// One of our own bots: the program runs itself as it.
#[derive(Debug)]
struct BuiltInLauncher {
    program: PathBuf,
    /// The text after `house:`.
    spec: String,
}

impl Launcher for BuiltInLauncher {
    fn default_name(&self) -> String {
        let name = self.spec.split('?').next();
        name.unwrap_or(&self.spec).to_owned()
    }

    fn trust(&self) -> Trust {
        Trust::BuiltIn
    }

    fn reach(&self) -> Reach {
        Reach::Program {
            program: self.program.clone(),
            arguments: vec!["bot".into(), self.spec.clone().into()],
        }
    }

    fn travels_with(&self) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn identity(&self, _directory: &Path) -> Result<Option<String>, String> {
        Ok(Some(format!("built-in {}", env!("CARGO_PKG_VERSION"))))
    }

    fn check_game(&self, game: &GameInfo) -> Result<(), String> {
        match house_bots::named(&self.spec) {
            Some(bot) if !bot.games.include(game.name) => Err(format!(
                "built-in bot \"{}\" does not play {}; it plays {}",
                bot.name,
                game_name(game.name),
                bot.games.names()
            )),
            _ => Ok(()),
        }
    }
}

/// A compiled strategy: the program runs itself as its adapter.
#[derive(Debug)]
struct Compiled {
    program: PathBuf,
    /// The first arguments.
    words: &'static [&'static str],
    strategy: Strategy,
}

impl Launcher for Compiled {
    fn default_name(&self) -> String {
        self.strategy.name()
    }

    fn trust(&self) -> Trust {
        Trust::Process
    }

    fn reach(&self) -> Reach {
        let strategy = self.strategy.to_string();
        Reach::Program {
            program: self.program.clone(),
            arguments: (self.words.iter().copied().map(OsString::from))
                .chain([strategy.into()])
                .collect(),
        }
    }

    fn check_files(&self, directory: &Path) -> Result<(), String> {
        check_home(&self.strategy.path, directory)
            .map_err(|why| format!("strategy:{}: {why}", self.strategy))?;
        let strategy = Strategy {
            path: joined(directory, &self.strategy.path),
            ..self.strategy.clone()
        };
        strategy.look().map_err(|error| error.to_string())
    }

    fn check_game(&self, game: &GameInfo) -> Result<(), String> {
        if game.name == strategy_adapter::GAME {
            return Ok(());
        }
        let game = game_name(game.name);
        Err(format!(
            "a compiled strategy plays connect-four, not {game}"
        ))
    }

    fn program_file(&self, directory: &Path) -> Option<PathBuf> {
        Some(joined(directory, &self.strategy.path))
    }

    fn needs(&self, directory: &Path) -> Vec<String> {
        let file = joined(directory, &self.strategy.path);
        needs_of_file(&file).into_iter().collect()
    }

    fn check_packed(&self) -> Result<(), String> {
        stays_in_folder(&self.strategy.path)
    }

    fn needs_empty_board(&self) -> bool {
        self.strategy.keeps_globals
    }

    fn may_keep_globals(&self) -> bool {
        !self.strategy.keeps_globals
    }

    fn interface(&self) -> Interface {
        Interface::Strategy
    }

    fn remark(&self) -> Option<&'static str> {
        self.strategy.trusts_clock().then_some(
            "it calls clock(), which counts millionths of a second here; if it was written \
             where CLOCKS_PER_SEC is 1000 and does not divide by that, say \
             FILE.so?clock-scale=1000, or it thinks a thousandth of what it should",
        )
    }
}

/// An agent of Kaggle's ConnectX: the program runs itself as the adapter of a script that plays it.
#[derive(Debug)]
struct KaggleAgent {
    spec: KaggleSpec,
    lines: OfLines,
}

impl KaggleAgent {
    fn new(program: PathBuf, spec: KaggleSpec) -> Self {
        let command = CommandLine::new(KaggleSpec::PYTHON.to_owned(), vec![spec.file.clone()]);
        let lines = OfLines {
            program,
            command,
            spec: spec.lines(),
        };
        Self { spec, lines }
    }

    fn file(&self) -> &Path {
        Path::new(&self.spec.file)
    }
}

impl Launcher for KaggleAgent {
    fn default_name(&self) -> String {
        let stem = self.file().file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    fn trust(&self) -> Trust {
        self.lines.trust()
    }

    fn reach(&self) -> Reach {
        self.lines.reach()
    }

    fn command(&self) -> Option<(PathBuf, Vec<OsString>)> {
        self.lines.command()
    }

    fn check_files(&self, directory: &Path) -> Result<(), String> {
        let shown = &self.spec.file;
        check_home(self.file(), directory).map_err(|why| format!("kaggle:{shown}: {why}"))?;
        let file = joined(directory, self.file());
        let why = match file.extension().is_some_and(|extension| extension == "py") {
            true if file.is_file() => return Ok(()),
            true => "there is no such file",
            false => "it is none",
        };
        Err(format!(
            "kaggle:{shown}: expected one file of Python with an agent, as in submission.py; {why}"
        ))
    }

    fn check_game(&self, game: &GameInfo) -> Result<(), String> {
        if game.name == KaggleSpec::GAME {
            return Ok(());
        }
        Err(format!(
            "an agent of Kaggle's ConnectX plays {}, not {}",
            game_name(KaggleSpec::GAME),
            game_name(game.name)
        ))
    }

    fn usual_setup(&self) -> Option<&'static str> {
        Some(KaggleSpec::SETUP)
    }

    fn program_file(&self, directory: &Path) -> Option<PathBuf> {
        Some(joined(directory, self.file()))
    }

    fn needs(&self, directory: &Path) -> Vec<String> {
        self.lines.needs(directory)
    }

    fn with_command(&self, words: &[String]) -> Option<String> {
        Some(format!("kaggle:{}", self.spec.in_file(words.last()?)))
    }

    fn check_packed(&self) -> Result<(), String> {
        stays_in_folder(self.file())
    }

    fn interface(&self) -> Interface {
        Interface::Agent
    }
}

/// A program that reads and writes lines: the program runs itself as its adapter.
#[derive(Debug)]
struct OfLines {
    program: PathBuf,
    spec: LineSpec,
    command: CommandLine,
}

impl Launcher for OfLines {
    fn default_name(&self) -> String {
        self.command.default_name()
    }

    fn trust(&self) -> Trust {
        Trust::Process
    }

    fn reach(&self) -> Reach {
        let mut spec = self.spec.clone();
        // A sandbox shows programs that are named by their files.
        if let Some(file) = program_in_path(&spec.command.program) {
            spec.command.program = file.to_string_lossy().into_owned();
        }
        let words = ["lines".to_owned()].into_iter().chain(spec.arguments());
        Reach::Program {
            program: self.program.clone(),
            arguments: words.map(OsString::from).collect(),
        }
    }

    fn command(&self) -> Option<(PathBuf, Vec<OsString>)> {
        self.command.command()
    }

    fn check_files(&self, directory: &Path) -> Result<(), String> {
        self.command.check_files(directory)
    }

    fn program_file(&self, directory: &Path) -> Option<PathBuf> {
        self.command.program_file(directory)
    }

    fn needs(&self, directory: &Path) -> Vec<String> {
        self.command.needs(directory)
    }

    fn check_packed(&self) -> Result<(), String> {
        self.command.check_packed()
    }

    fn with_command(&self, words: &[String]) -> Option<String> {
        self.spec.with_command(words)
    }

    fn needs_empty_board(&self) -> bool {
        // Moves are found that lead to openings, and to no other positions.
        matches!(
            &self.spec.dialect,
            LineDialect::Gtp(GtpOptions { setup: None, .. })
        )
    }

    fn check_game(&self, game: &GameInfo) -> Result<(), String> {
        match self.spec.dialect {
            LineDialect::Gtp(_) if game.name != line_adapters::GTP_GAME => Err(format!(
                "GTP is spoken by engines that play {}, not {}",
                game_name(line_adapters::GTP_GAME),
                game_name(game.name)
            )),
            LineDialect::Gtp(_) | LineDialect::Stdio => Ok(()),
        }
    }

    fn interface(&self) -> Interface {
        match self.spec.dialect {
            LineDialect::Stdio => Interface::Lines,
            LineDialect::Gtp(_) => Interface::Engine,
        }
    }
}

#[cfg(test)]
mod tests {
    use referee_bots::{Entry, EntryError};

    use super::*;

    fn read(text: &str) -> Result<Entry, EntryError> {
        Entry::read(text, &schemes().unwrap())
    }

    #[test]
    fn names_are_given_or_found() {
        for (text, name, spec) in [
            ("a=house:uct?time=200ms", "a", "house:uct?time=200ms"),
            ("house:uct?time=200ms", "uct", "house:uct?time=200ms"),
            (
                "strategy:./old/my strategy.so?clock-scale=1000",
                "my-strategy",
                "strategy:./old/my strategy.so?clock-scale=1000",
            ),
        ] {
            let entry = read(text).unwrap();
            assert_eq!((&*entry.name, &*entry.spec), (name, spec), "{text}");
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        for (text, says) in [
            ("a=house:radnom", "did you mean random?"),
            ("strategy:", "expected strategy:FILE.so"),
            ("strategy:a.so?x=1", "there is no parameter \"x\""),
            ("stdio:", "expected a command"),
            (
                "stdio:./bot?max-games=no",
                "max-games: expected a number from 1",
            ),
            ("kaggle:", "expected a file"),
            ("..=house:random", "begins with"),
            ("a b=house:random", "a name is"),
        ] {
            let why = read(text).unwrap_err().to_string();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
