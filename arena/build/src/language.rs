//! The languages of entries, and how each is known by its files.

use serde::Deserialize;

use crate::{
    fault::{BuildFault, FaultKind},
    settings::SETTINGS,
    sources::Sources,
};

/// The way in which sources become a bot. What each is found by is in this crate's own page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// A strategy for Connect Four, in C++.
    Strategy,
    /// A brain for Mahjong, in C++.
    Brain,
    /// Rust, with the kit.
    Rust,
    /// Go, with the kit.
    Go,
    /// Java, with the kit.
    Java,
    /// TypeScript, with the kit.
    TypeScript,
    /// C++, with the kit.
    Cpp,
    /// Python.
    Python,
    /// JavaScript.
    JavaScript,
    /// A program that reads and writes lines of JSON.
    Stdio,
}

impl Language {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Self; 10] = [
        Self::Strategy,
        Self::Brain,
        Self::Rust,
        Self::Go,
        Self::Java,
        Self::TypeScript,
        Self::Cpp,
        Self::Python,
        Self::JavaScript,
        Self::Stdio,
    ];

    /// Its name, as in `entry.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::Brain => "brain",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::Java => "java",
            Self::TypeScript => "typescript",
            Self::Cpp => "cpp",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::Stdio => "stdio",
        }
    }

    /// The language of these sources.
    pub(crate) fn of(sources: &Sources) -> Result<Self, BuildFault> {
        let mut found = Self::ALL.into_iter();
        let found = found.find(|language| language.is_of(sources));
        found.ok_or_else(|| {
            let why = format!(
                "expected brain.cpp, a C++ file with getPoint or with the kit, Cargo.toml or \
                 main.rs, go.mod or a .go file, a .java file, a .ts file, bot.py or main.py, \
                 bot.js or main.js, or a script bot that begins with #!; or {SETTINGS} with \
                 language and run; found {}",
                list(sources.paths())
            );
            BuildFault::new(FaultKind::NoRecipe, why)
        })
    }

    fn is_of(self, sources: &Sources) -> bool {
        let has = |path: &str| sources.file(path).is_some();
        let any = |ending: &str| sources.paths().any(|path| path.ends_with(ending));
        match self {
            Self::Strategy => {
                cpp_files(sources).any(|path| sources.has_in(path, "getPoint("))
                    && !uses_cpp_kit(sources)
            }
            Self::Brain => has("brain.cpp"),
            Self::Rust => has("Cargo.toml") || any(".rs"),
            Self::Go => has("go.mod") || any(".go"),
            Self::Java => any(".java"),
            Self::TypeScript => any(".ts"),
            Self::Cpp => cpp_files(sources).next().is_some(),
            Self::Python => main_file(sources, PYTHON).is_ok(),
            Self::JavaScript => main_file(sources, JAVASCRIPT).is_ok(),
            Self::Stdio => has("bot"),
        }
    }
}

pub(crate) fn cpp_files(sources: &Sources) -> impl Iterator<Item = &str> {
    let is_cpp = |path: &&str| {
        [".cpp", ".cc", ".cxx"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    sources.paths().filter(is_cpp)
}

pub(crate) fn uses_cpp_kit(sources: &Sources) -> bool {
    let mut paths = sources.paths();
    paths.any(|path| sources.has_in(path, "#include <bot_arena/"))
}

/// The names of a main file, and the endings of what is one where it is alone.
pub(crate) type MainNames = (&'static [&'static str], &'static [&'static str]);

pub(crate) const PYTHON: MainNames = (&["bot.py", "main.py"], &[".py"]);
pub(crate) const JAVASCRIPT: MainNames = (
    &["bot.js", "bot.mjs", "main.js", "main.mjs"],
    &[".js", ".mjs"],
);

/// The file that is started: by its name, or since it is the only one.
pub(crate) fn main_file(
    sources: &Sources,
    (names, endings): MainNames,
) -> Result<&str, BuildFault> {
    let mut files = sources
        .paths()
        .filter(|path| endings.iter().any(|end| path.ends_with(end)));
    let named = names.iter().find_map(|name| {
        let mut paths = sources.paths();
        paths.find(|path| path == name)
    });
    let only = files.next().filter(|_| files.next().is_none());
    named.or(only).ok_or_else(|| {
        let why = format!(
            "which file is started? expected one of {}, or {SETTINGS} with run; found {}",
            names.join(", "),
            list(sources.paths())
        );
        BuildFault::new(FaultKind::NoRecipe, why)
    })
}

/// Some of these, for a message.
pub(crate) fn list<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    const MOST: usize = 10;
    let mut all: Vec<&str> = paths.collect();
    let more = all.len() > MOST;
    all.truncate(MOST);
    let and_more = if more { ", …" } else { "" };
    format!("{}{and_more}", all.join(", "))
}
