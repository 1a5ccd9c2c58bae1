//! The files that `arena bots new` writes: a table of the languages, and what is filled in. The
//! texts are in the folder `templates` of this crate.

use clap::ValueEnum;

use super::super::dockerfile::{IGNORED, Language};

/// The languages that there are templates for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BotLanguage {
    Rust,
    Python,
    Cpp,
    Typescript,
    Go,
    Java,
    Stdio,
}

/// A bot in a language.
pub(super) struct BotTemplate {
    /// The folder of the kit in the repository, and a file that it has.
    pub(super) kit: Option<(&'static str, &'static str)>,
    /// What its author must have installed.
    needs: &'static str,
    /// What differs by game: the bot first, its tests last.
    sources: Vec<(&'static str, ByGame)>,
    /// How it is built and tested: a part of the Makefile.
    rules: &'static str,
    /// What is built in the folder.
    gitignore: &'static str,
    /// All else.
    files: Vec<(&'static str, String)>,
}

/// A text for each game, by its name.
type ByGame = [(&'static str, &'static str); 4];

/// What is filled in.
pub(super) struct Values<'a> {
    pub(super) name: &'a str,
    /// The game, with underscores.
    pub(super) game: &'a str,
    pub(super) seats: u8,
    pub(super) kit: &'a str,
}

/// A file of the folder `templates`.
macro_rules! text {
    ($($part:expr),+) => {
        include_str!(concat!("../../../templates/", $($part),+))
    };
}

/// A file of a language for each game.
macro_rules! by_game {
    ($language:literal, $file:literal) => {
        [
            ("connect_four", text!($language, "/connect_four/", $file)),
            ("othello", text!($language, "/othello/", $file)),
            ("mahjong", text!($language, "/mahjong/", $file)),
            ("big_two", text!($language, "/big_two/", $file)),
        ]
    };
}

impl BotLanguage {
    pub(super) fn template(self) -> BotTemplate {
        match self {
            Self::Rust => BotTemplate {
                kit: Some(("bots/kit", "Cargo.toml")),
                needs: "Rust 1.95 or later",
                sources: vec![("src/main.rs", by_game!("rust", "main.rs"))],
                rules: text!("rust/rules.mk"),
                gitignore: "target/\n",
                files: with(
                    Language::Rust.template().texts("target/release/bot", None),
                    [("Cargo.toml", text!("rust/Cargo.toml"))],
                ),
            },
            Self::Python => BotTemplate {
                kit: Some(("bots/python", "pyproject.toml")),
                needs: "Python 3.10 or later with venv",
                sources: vec![
                    ("bot.py", by_game!("python", "bot.py")),
                    ("test_bot.py", by_game!("python", "test_bot.py")),
                ],
                rules: text!("python/rules.mk"),
                gitignore: "venv/\n__pycache__/\n*.whl\n",
                files: with(
                    Language::Python.template().texts(
                        "bot.py",
                        Some(("requirements.txt", text!("python/install"))),
                    ),
                    [("requirements.txt", text!("python/requirements.txt"))],
                ),
            },
            Self::Cpp => BotTemplate {
                kit: Some(("bots/cpp", "CMakeLists.txt")),
                needs: "a compiler for C++17, CMake and gRPC (Debian: `apt-get install g++ cmake \
                        pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc`)",
                sources: vec![
                    ("bot.hpp", by_game!("cpp", "bot.hpp")),
                    ("bot_test.cpp", by_game!("cpp", "bot_test.cpp")),
                ],
                rules: text!("cpp/rules.mk"),
                gitignore: "build/\n",
                files: with(
                    Language::Cpp.template().texts("build/bot", None),
                    [
                        ("main.cpp", text!("cpp/main.cpp")),
                        ("CMakeLists.txt", text!("cpp/CMakeLists.txt")),
                    ],
                ),
            },
            Self::Typescript => BotTemplate {
                kit: Some(("bots/typescript", "package.json")),
                needs: "Node 18 or later with npm",
                sources: vec![
                    ("src/bot.ts", by_game!("typescript", "bot.ts")),
                    ("src/bot.test.ts", by_game!("typescript", "bot.test.ts")),
                ],
                rules: text!("typescript/rules.mk"),
                gitignore: "dist/\nnode_modules/\n",
                files: with(
                    Language::Node.template().texts(
                        "dist/main.js",
                        Some(("package-lock.json", text!("typescript/install"))),
                    ),
                    [
                        ("src/main.ts", text!("typescript/main.ts")),
                        ("package.json", text!("typescript/package.json")),
                        ("tsconfig.json", text!("typescript/tsconfig.json")),
                    ],
                ),
            },
            Self::Go => BotTemplate {
                kit: Some(("bots/go", "go.mod")),
                needs: "Go 1.24 or later",
                sources: vec![
                    ("bot.go", by_game!("go", "bot.go")),
                    ("bot_test.go", by_game!("go", "bot_test.go")),
                ],
                rules: text!("go/rules.mk"),
                gitignore: "/bot\n",
                files: with(
                    [
                        ("Dockerfile", text!("go/Dockerfile").to_owned()),
                        (".dockerignore", "*\n!bot\n".to_owned()),
                    ],
                    [("go.mod", text!("go/go.mod"))],
                ),
            },
            Self::Java => BotTemplate {
                kit: Some(("bots/java", "pom.xml")),
                needs: "Java 17 or later and Maven",
                sources: vec![
                    ("src/main/java/MyBot.java", by_game!("java", "MyBot.java")),
                    (
                        "src/test/java/MyBotTest.java",
                        by_game!("java", "MyBotTest.java"),
                    ),
                ],
                rules: text!("java/rules.mk"),
                gitignore: "target/\n.kit\n",
                files: with(
                    [
                        ("Dockerfile", text!("java/Dockerfile").to_owned()),
                        (".dockerignore", "*\n!target/bot.jar\n".to_owned()),
                    ],
                    [("pom.xml", text!("java/pom.xml"))],
                ),
            },
            Self::Stdio => BotTemplate {
                kit: None,
                needs: "Python 3.10 or later",
                sources: vec![
                    ("bot.py", by_game!("stdio", "bot.py")),
                    ("test_bot.py", by_game!("stdio", "test_bot.py")),
                ],
                rules: text!("stdio/rules.mk"),
                gitignore: "__pycache__/\n",
                files: with(
                    [
                        ("Dockerfile", text!("stdio/Dockerfile").to_owned()),
                        (".dockerignore", IGNORED.to_owned()),
                    ],
                    [],
                ),
            },
        }
    }
}

/// The files of an image, and others.
fn with<const N: usize>(
    image: [(&'static str, String); 2],
    others: [(&'static str, &'static str); N],
) -> Vec<(&'static str, String)> {
    let others = others.map(|(path, text)| (path, text.to_owned()));
    image.into_iter().chain(others).collect()
}

impl BotTemplate {
    /// All files by their paths; none where there is no template for the game.
    pub(super) fn texts(&self, values: &Values<'_>) -> Option<Vec<(&'static str, String)>> {
        let mut files = self.files.clone();
        for (path, texts) in &self.sources {
            let (_, text) = texts.iter().find(|(game, _)| *game == values.game)?;
            files.push((*path, (*text).to_owned()));
        }
        let (source, _) = self.sources.first()?;
        let (test, _) = self.sources.last()?;
        files.push(("README.md", text!("README.md").to_owned()));
        files.push((
            "Makefile",
            text!("Makefile").replace("{{rules}}", self.rules),
        ));
        files.push((".gitignore", format!("arena-runs/\n{}", self.gitignore)));
        let game = referee_games::game_name(values.game);
        let opponents: Vec<String> = (1..values.seats)
            .map(|seat| format!("--bot other-{seat}=house:random"))
            .collect();
        let opponents = opponents.join(" ");
        let placeholders = [
            ("{{name}}", values.name),
            ("{{game}}", game.as_str()),
            ("{{kit}}", values.kit),
            ("{{opponents}}", opponents.as_str()),
            ("{{source}}", *source),
            ("{{test}}", *test),
            ("{{needs}}", self.needs),
        ];
        for (_, text) in &mut files {
            for (placeholder, value) in placeholders {
                *text = text.replace(placeholder, value);
            }
        }
        Some(files)
    }
}

#[cfg(test)]
mod tests {
    use referee_games::GAMES;

    use super::*;

    #[test]
    fn a_template_of_every_language_and_game_is_filled_in() {
        for language in BotLanguage::value_variants() {
            for kind in &GAMES {
                let info = kind.info();
                let values = Values {
                    name: "mine",
                    game: info.name,
                    seats: info.seats,
                    kit: "/the kit",
                };
                let files = language.template().texts(&values).unwrap();
                for (path, text) in &files {
                    let end = text.lines().last().unwrap_or_default();
                    assert!(!end.trim().is_empty(), "{path} in {language:?}: {text}");
                    // `}}` alone is of the languages.
                    let left = text.split("{{").skip(1).find(|rest| {
                        let word = rest.split("}}").next().unwrap_or_default();
                        word.chars().all(|c| c.is_ascii_lowercase())
                    });
                    assert_eq!(left, None, "{path} in {language:?}");
                }
                let readme = files.iter().find(|(path, _)| *path == "README.md");
                assert!(readme.unwrap().1.lines().count() <= 25);
            }
        }
    }
}
