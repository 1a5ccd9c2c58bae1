//! The launchers: how the bots of each kind are started or reached, and the list of kinds.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use referee::{Address, BotContainer};
use referee_core::GameInfo;

use crate::{address, archive::ArchiveHash, command, identity_of_file, packed, packed::PACKABLE};

/// One bot, as its SPEC says it: how it is started or reached. There is one
/// implementation for each kind of bot.
pub trait Launcher: fmt::Debug + Send + Sync {
    /// The name of a bot that was given none.
    fn default_name(&self) -> String;

    /// The owner of its program, and whether we start it.
    fn trust(&self) -> Trust;

    /// The way to start or reach it.
    fn reach(&self) -> Reach;

    /// Checks that its files are there and of the right kind, as far as that can be known without
    /// starting it. Relative paths are those of `directory`.
    ///
    /// # Errors
    ///
    /// What was found, what was expected, and what to do.
    fn check_files(&self, directory: &Path) -> Result<(), String> {
        let _ = directory;
        Ok(())
    }

    /// Checks that it plays this game, as far as that can be known without starting it.
    ///
    /// # Errors
    ///
    /// Which games it plays.
    fn check_game(&self, game: &GameInfo) -> Result<(), String> {
        let _ = game;
        Ok(())
    }

    /// The SPEC that means this very bot also when names are given to others; none where it is
    /// the one that was read.
    fn lasting_spec(&self) -> Option<String> {
        None
    }

    /// Labels of what a machine must provide to start it, where it can be started on any machine
    /// that does; none where it can be started or reached from here only.
    fn travels_with(&self) -> Option<Vec<String>> {
        None
    }

    /// True if it has dialled in and waits in the lobby of an arena: it is reached from the arena's
    /// own machine only.
    fn is_in_lobby(&self) -> bool {
        false
    }

    /// True if it refuses games that begin in the middle, as its SPEC says.
    fn needs_empty_board(&self) -> bool {
        false
    }

    /// The set-up of its games where none is named, in the notation of its game; none where that is
    /// the game's own.
    fn usual_setup(&self) -> Option<&'static str> {
        None
    }

    /// The interface of what its author wrote.
    fn interface(&self) -> Interface {
        Interface::Protocol
    }

    /// The program that its author wrote, with its arguments, where we start one: behind an adapter
    /// it is not the one that [`reach`](Self::reach) gives.
    fn command(&self) -> Option<(PathBuf, Vec<OsString>)> {
        match self.reach() {
            Reach::Program { program, arguments } => Some((program, arguments)),
            Reach::Address(_) | Reach::Container { .. } => None,
        }
    }

    /// True if it may keep a game in globals from its first move on, and its SPEC could say so and
    /// does not.
    fn may_keep_globals(&self) -> bool {
        false
    }

    /// A remark for its author, for where the bot thinks for a short time only.
    fn remark(&self) -> Option<&'static str> {
        None
    }

    /// The archive that its files are in. Its paths begin at the folder of that, then.
    fn archive(&self) -> Option<&ArchiveHash> {
        None
    }

    /// Labels of what a machine must have to play with it: `python3`, `linux-x86_64`. Relative
    /// paths are those of `directory`.
    fn needs(&self, directory: &Path) -> Vec<String> {
        let _ = directory;
        Vec::new()
    }

    /// The SPEC of the same kind of bot with other words in place of those of
    /// [`command`](Self::command); none where it has none.
    fn with_command(&self, words: &[String]) -> Option<String> {
        let _ = words;
        None
    }

    /// Checks that it can be started from a folder that is another one on each machine.
    ///
    /// # Errors
    ///
    /// Why not.
    fn check_packed(&self) -> Result<(), String> {
        Err(format!("it can't be in an archive: expected {PACKABLE}"))
    }

    /// The file that decides how it plays, where there is one such file. Relative paths are
    /// those of `directory`.
    fn program_file(&self, directory: &Path) -> Option<PathBuf> {
        let _ = directory;
        None
    }

    /// The identity of the bot, as far as that can be known: `sha256:HASH` of its archive or of the
    /// file that decides how it plays, `built-in VERSION`, or none.
    ///
    /// # Errors
    ///
    /// Its file can't be read.
    fn identity(&self, directory: &Path) -> Result<Option<String>, String> {
        let Some(file) = self.program_file(directory) else {
            return Ok(None);
        };
        let identity = identity_of_file(&file);
        let identity = identity.map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Some(identity))
    }
}

/// What a bot's author has written against. With all but the first, an adapter of ours has the
/// streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The protocol itself.
    Protocol,
    /// The functions of a compiled strategy: it is not told the limit.
    Strategy,
    /// Lines of JSON on standard input and output.
    Lines,
    /// The protocol of engines (GTP).
    Engine,
    /// A function of an observation, as on Kaggle.
    Agent,
}

/// The owner of a bot's program, and whether we start it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// One of ours, started by us.
    BuiltIn,
    /// Somebody's program, started by us, with walls around it where there are any.
    Process,
    /// Somebody's program, started by us in a container.
    Container,
    /// It runs already. We can't start a fresh process of it.
    Remote,
}

/// The way to start or reach a bot.
#[derive(Clone, Debug)]
pub enum Reach {
    /// It listens here.
    Address(Address),
    /// This program listens where `BOT_LISTEN` says when it is started.
    Program {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// The program of this image does, in a container.
    Container {
        /// Its container.
        container: BotContainer,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
}

/// A kind of bot: what its SPECs begin with, and how the rest is read.
pub struct Scheme {
    /// Prefixes of the SPECs of this kind.
    pub prefixes: &'static [&'static str],
    /// The form of such a SPEC, for error messages: `house:NAME`.
    pub form: &'static str,
    /// Names that SPECs of this kind begin with after the prefix, where they are known:
    /// a text that is one of them gets a suggestion.
    pub names: Vec<&'static str>,
    /// Reads a whole SPEC, given also without its prefix.
    pub read: SpecReader,
}

/// Reads a SPEC: the whole text, and what follows the prefix.
pub type SpecReader = Box<dyn Fn(&str, &str) -> Result<Arc<dyn Launcher>, String> + Send + Sync>;

/// Every kind of bot that can be started or reached here.
pub struct Schemes {
    kinds: Arc<Vec<Scheme>>,
    /// Bots in archives, whose SPECs have others in them.
    packed: Option<Scheme>,
}

impl Schemes {
    /// The kinds that need nothing from elsewhere (`exec:`, `grpc://`, `grpcs://`, `tcp:`,
    /// `unix:`, `packed:`), and others before them.
    #[must_use]
    pub fn with(mut others: Vec<Scheme>) -> Self {
        others.push(command::scheme());
        others.push(address::scheme());
        let kinds = Arc::new(others);
        let unpacked = Self {
            kinds: kinds.clone(),
            packed: None,
        };
        let packed = Some(packed::scheme(Arc::new(unpacked)));
        Self { kinds, packed }
    }

    fn all(&self) -> impl Iterator<Item = &Scheme> {
        self.kinds.iter().chain(&self.packed)
    }

    /// These kinds, bots at addresses, and bots in archives that are started by commands or as `packed` says. A
    /// command that is in no archive is none of them.
    #[must_use]
    pub fn travelling(mut kinds: Vec<Scheme>, mut packed: Vec<Scheme>) -> Self {
        kinds.push(address::scheme());
        packed.push(command::scheme());
        let inner = Self {
            kinds: Arc::new(packed),
            packed: None,
        };
        Self {
            kinds: Arc::new(kinds),
            packed: Some(packed::scheme(Arc::new(inner))),
        }
    }

    /// The kind that a SPEC belongs to, and the SPEC without its prefix.
    pub(crate) fn find<'t>(&self, spec: &'t str) -> Option<(&Scheme, &'t str)> {
        self.all().find_map(|scheme| {
            let mut prefixes = scheme.prefixes.iter();
            let rest = prefixes.find_map(|prefix| spec.strip_prefix(prefix))?;
            Some((scheme, rest))
        })
    }

    /// The prefix that a word lacks only the colon of.
    pub(crate) fn prefix_of(&self, word: &str) -> Option<&'static str> {
        let mut prefixes = self.all().flat_map(|scheme| scheme.prefixes);
        prefixes
            .find(|prefix| prefix.strip_suffix(':') == Some(word))
            .copied()
    }

    /// The SPEC of a text that lacks only its prefix.
    pub(crate) fn completed(&self, text: &str) -> Option<String> {
        let name = text.split('?').next()?;
        let scheme = self.all().find(|scheme| scheme.names.contains(&name))?;
        Some(format!("{}{text}", scheme.prefixes[0]))
    }

    /// The forms of all SPECs, for error messages: `house:NAME, exec:COMMAND or grpc://HOST:PORT`.
    #[must_use]
    pub fn forms(&self) -> String {
        let forms: Vec<&str> = self.kinds.iter().map(|scheme| scheme.form).collect();
        match &forms[..] {
            [] => String::new(),
            [only] => (*only).to_owned(),
            [most @ .., last] => format!("{} or {last}", most.join(", ")),
        }
    }
}
