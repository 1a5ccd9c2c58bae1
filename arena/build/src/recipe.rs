//! How sources become a bot: what is run, what it needs, and how the bot is started.

use std::path::PathBuf;

use crate::{
    fault::{BuildError, BuildFault, FaultKind},
    language::Language,
    recipes,
    settings::{SETTINGS, Settings},
    sources::Sources,
    toolchain::Toolchain,
};

/// The games that the programs of courses play.
const STRATEGY_GAME: &str = "connect_four";
const BRAIN_GAME: &str = "mahjong";

/// How a bot is started, in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// By a command, and it speaks the protocol.
    Exec(Vec<String>),
    /// By a command, and it reads and writes lines.
    Stdio(Vec<String>),
    /// By the adapter for strategies.
    Strategy(String),
}

impl Start {
    /// The file of the bot that is started, where it is one.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Self::Exec(words) | Self::Stdio(words) => words[0].strip_prefix("./"),
            Self::Strategy(file) => Some(file),
        }
    }
}

/// All that a build needs.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) language: Language,
    /// Programs that must be there.
    pub(crate) tools: Vec<&'static str>,
    /// Files and folders that the build reads besides the sources.
    pub(crate) readable: Vec<PathBuf>,
    /// Variables of the build.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Lines of a shell, which are run in the folder of the sources. It becomes the bot's folder.
    pub(crate) script: String,
    pub(crate) start: Start,
}

impl Recipe {
    /// The recipe of these sources.
    ///
    /// # Errors
    ///
    /// They are none, or of another game, or this machine has not what they need.
    pub(crate) fn of(
        sources: &Sources,
        game: &str,
        toolchain: &Toolchain,
    ) -> Result<Self, BuildError> {
        let settings = Settings::of(sources)?;
        let language = match settings.language {
            Some(language) => language,
            None if settings.build.is_some() => Language::Stdio,
            None => Language::of(sources)?,
        };
        let needed = match language {
            Language::Strategy => Some(STRATEGY_GAME),
            Language::Brain => Some(BRAIN_GAME),
            _ => None,
        };
        if let Some(needed) = needed.filter(|needed| *needed != game) {
            let why = format!("a {} plays {needed}, not {game}", language.name());
            return Err(BuildFault::new(FaultKind::WrongGame, why).into());
        }
        let mut recipe = match settings.build {
            Some(command) => Self::new(language, &[], command, Start::Exec(Vec::new())),
            None => recipes::recipe(language, sources, settings.run.is_some(), toolchain)?,
        };
        if let Some(run) = &settings.run {
            recipe.start = start(language, run, sources)?;
        }
        Ok(recipe)
    }

    pub(crate) fn new(
        language: Language,
        tools: &[&'static str],
        script: String,
        start: Start,
    ) -> Self {
        Self {
            language,
            tools: tools.to_vec(),
            readable: Vec::new(),
            environment: Vec::new(),
            script,
            start,
        }
    }
}

/// The start that `run` says.
fn start(language: Language, run: &str, sources: &Sources) -> Result<Start, BuildFault> {
    let bad = |why: &str| {
        let why = format!("{SETTINGS}: run = \"{run}\": {why}");
        BuildFault::new(FaultKind::BadSettings, why)
    };
    let words = shlex::split(run).ok_or_else(|| bad("a quotation mark is not closed"))?;
    if words.is_empty() {
        return Err(bad("expected a command, as in python3 bot.py"));
    }
    Ok(match language {
        Language::Strategy => {
            return Err(bad("a strategy is started by its adapter: leave it out"));
        }
        Language::Stdio => Start::Stdio(words),
        Language::Python => spoken(words, uses(sources, ".py", "bot_arena")),
        Language::JavaScript => spoken(words, uses(sources, "js", "bot-arena")),
        _ => Start::Exec(words),
    })
}

/// A command that speaks the protocol, by a kit, or reads and writes lines.
pub(crate) fn spoken(command: Vec<String>, by_kit: bool) -> Start {
    match by_kit {
        true => Start::Exec(command),
        false => Start::Stdio(command),
    }
}

/// True if one of the files with this ending has these words.
pub(crate) fn uses(sources: &Sources, ending: &str, word: &str) -> bool {
    let mut paths = sources.paths().filter(|path| path.ends_with(ending));
    paths.any(|path| sources.has_in(path, word))
}
