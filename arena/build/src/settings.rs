//! `entry.toml`: what an author says about a build, where it is not seen from the files.

use serde::Deserialize;

use crate::{
    fault::{BuildFault, FaultKind},
    language::Language,
    sources::Sources,
};

/// The name of the file.
pub(crate) const SETTINGS: &str = "entry.toml";

/// What it may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The language, whatever the files look like.
    pub(crate) language: Option<Language>,
    /// A command instead of what the language does by itself.
    pub(crate) build: Option<String>,
    /// The command that starts the bot in its folder.
    pub(crate) run: Option<String>,
}

impl Settings {
    /// What the file in these sources says; nothing where there is none.
    ///
    /// # Errors
    ///
    /// What is wrong in it.
    pub(crate) fn of(sources: &Sources) -> Result<Self, BuildFault> {
        let bad = |why: &str| {
            let why = format!("{SETTINGS}: {why}");
            BuildFault::new(FaultKind::BadSettings, why)
        };
        let Some(file) = sources.file(SETTINGS) else {
            return Ok(Self::default());
        };
        let text = str::from_utf8(&file.bytes).map_err(|_| bad("expected text in UTF-8"))?;
        let settings: Self = toml::from_str(text).map_err(|error| {
            let names = Language::ALL.map(Language::name).join(", ");
            bad(&format!(
                "{}; expected language, build and run, the language one of {names}",
                error.message()
            ))
        })?;
        if settings.build.is_some() && settings.run.is_none() {
            return Err(bad("build needs run beside it, as in run = \"./bot\""));
        }
        Ok(settings)
    }
}
