//! How the sources of each language are found, built and started.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{
    fault::{BuildError, BuildFault, FaultKind},
    settings::{SETTINGS, Settings},
    sources::Sources,
    toolchain::Toolchain,
};

/// The games that the programs of courses play.
const STRATEGY_GAME: &str = "connect_four";
const BRAIN_GAME: &str = "mahjong";

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
    fn of(sources: &Sources) -> Result<Self, BuildFault> {
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
            None => Self::of_language(language, sources, settings.run.is_some(), toolchain)?,
        };
        if let Some(run) = &settings.run {
            recipe.start = start(&recipe, run, sources)?;
        }
        Ok(recipe)
    }

    fn new(language: Language, tools: &[&'static str], script: String, start: Start) -> Self {
        Self {
            language,
            tools: tools.to_vec(),
            readable: Vec::new(),
            environment: Vec::new(),
            script,
            start,
        }
    }

    fn of_language(
        language: Language,
        sources: &Sources,
        is_told_how_to_run: bool,
        toolchain: &Toolchain,
    ) -> Result<Self, BuildError> {
        let absent = |what: &str| BuildError::Ours(format!("this machine has no {what}"));
        let this = || Start::Exec(vec!["./bot".to_owned()]);
        Ok(match language {
            Language::Strategy => strategy(sources),
            Language::Brain => {
                let kits = toolchain.cpp.as_ref().zip(toolchain.brain.as_ref());
                let (cpp, brain) = kits.ok_or_else(|| absent("adapter for brains"))?;
                let include = quoted(&brain.include);
                let objects: Vec<String> = brain.objects.iter().map(|file| quoted(file)).collect();
                let script = format!(
                    "{UTF8}mkdir \"$HOME/brain\"\n\
                     for file in *.cpp *.cc *.h *.hpp; do\n\
                     if [ -f \"$file\" ] && ! {{ [ -f brain.h ] && [ -f {include}/\"$file\" ]; }}; then\n\
                     utf8 \"$file\" \"$HOME/brain/$file\"\nfi\ndone\n\
                     cat > \"$HOME/name.cpp\" <<'END'\n\
                     extern const char* const BRAIN_NAME;\n\
                     const char* const BRAIN_NAME = \"brain\";\nEND\n\
                     g++ -std=c++17 -O2 -o bot -I \"$HOME/brain\" -I {include} \
                     -DBRAIN_FILE='\"brain.cpp\"' {player} \"$HOME/name.cpp\" {objects} {kit}\n",
                    player = quoted(&brain.player),
                    objects = objects.join(" "),
                    kit = linked(cpp),
                );
                let tools = ["g++", "iconv", "pkg-config"];
                let mut recipe = Self::new(language, &tools, script, this());
                recipe.readable = [
                    vec![brain.include.clone(), brain.player.clone()],
                    brain.objects.clone(),
                    cpp_files_of(cpp),
                ]
                .concat();
                recipe
            }
            Language::Cpp => {
                let kit = toolchain.cpp.as_ref();
                let kit = kit.ok_or_else(|| absent("kit for C++"))?;
                let files = cpp_files(sources).filter(|path| !is_test(path));
                let script = format!(
                    "g++ -std=c++20 -O2 -o bot -I . {} {}\n",
                    words(files),
                    linked(kit)
                );
                let mut recipe = Self::new(language, &["g++", "pkg-config"], script, this());
                recipe.readable = cpp_files_of(kit);
                recipe
            }
            Language::Rust => {
                let kit = toolchain.rust.as_ref();
                let kit = kit.ok_or_else(|| absent("kit for Rust"))?;
                let main = first_of(sources, &["src/main.rs", "main.rs"], "rust")?;
                let script = format!(
                    "rustc --edition 2024 -C opt-level=3 --crate-name bot -o bot {main} \
                     --extern bot_kit={} -L dependency={}\n",
                    quoted(&kit.library),
                    quoted(&kit.dependencies),
                    main = words([main]),
                );
                let mut recipe = Self::new(language, &["rustc", "cc"], script, this());
                recipe.readable = vec![kit.library.clone(), kit.dependencies.clone()];
                recipe
            }
            Language::Go => {
                let kit = toolchain.go.as_ref();
                let kit = kit.ok_or_else(|| absent("kit for Go"))?;
                let module = quoted(&kit.module);
                // It is written into: what has been compiled is there by links.
                let cache = kit.cache.as_deref().map_or_else(String::new, |cache| {
                    let cache = quoted(cache);
                    format!("mkdir \"$GOCACHE\"\ncp -Rs {cache}/. \"$GOCACHE\"\n")
                });
                let script = format!(
                    "export GOCACHE=\"$HOME/go-cache\"\nname=bot\n\
                     if [ -f go.mod ]; then name=$(sed -n 's/^module  *//p' go.mod | head -n 1); fi\n\
                     cp -R . \"$HOME/module\"\ncd \"$HOME/module\"\n\
                     {{ echo \"module ${{name:-bot}}\"; echo 'go 1.24.0'; echo 'require botarena v0.0.0'\n\
                     echo 'replace botarena => '{module}\n\
                     sed -n '/^require (/,/^)/p' {module}/go.mod; }} > go.mod\n\
                     cp {module}/go.sum go.sum\n\
                     {cache}go build -o \"$HOME/entry/bot\" .\n"
                );
                let mut recipe = Self::new(language, &["go", "sed"], script, this());
                recipe.readable = vec![kit.module.clone(), kit.modules.clone()];
                recipe.readable.extend(kit.cache.clone());
                recipe.environment = [
                    ("CGO_ENABLED", "0".to_owned()),
                    ("GOFLAGS", "-mod=mod -buildvcs=false".to_owned()),
                    ("GOMODCACHE", kit.modules.display().to_string()),
                    ("GOPROXY", "off".to_owned()),
                    ("GOSUMDB", "off".to_owned()),
                    ("GOTELEMETRY", "off".to_owned()),
                    ("GOTOOLCHAIN", "local".to_owned()),
                ]
                .into();
                recipe
            }
            Language::Java => {
                let kit = toolchain.java.as_ref();
                let kit = kit.ok_or_else(|| absent("kit for Java"))?;
                let files = sources.paths().filter(|path| path.ends_with(".java"));
                let files = files.filter(|path| !path.ends_with("Test.java"));
                let script = format!(
                    "cp {kit} kit.jar\n\
                     javac -encoding UTF-8 -proc:none -cp kit.jar -d \"$HOME/classes\" {files}\n\
                     jar --create --file bot.jar -C \"$HOME/classes\" .\n",
                    kit = quoted(kit),
                    files = words(files),
                );
                let main = match is_told_how_to_run {
                    true => String::new(),
                    false => main_class(sources)?,
                };
                let command = ["java", "-cp", "bot.jar:kit.jar", &main];
                let command = command.map(str::to_owned).into();
                let mut recipe =
                    Self::new(language, &["javac", "jar"], script, Start::Exec(command));
                recipe.readable = vec![kit.clone()];
                recipe
            }
            Language::TypeScript => {
                let kit = toolchain.node.as_ref();
                let kit = kit.ok_or_else(|| absent("kit for TypeScript"))?;
                let files = sources.paths().filter(|path| {
                    path.ends_with(".ts") && !path.ends_with(".d.ts") && !is_test(path)
                });
                let in_src = |path: &&str| path.starts_with("src/");
                let all_in_src = files.clone().all(|path| in_src(&path));
                let root = if all_in_src { "src" } else { "." };
                let script = format!(
                    "{}[ -f package.json ] || echo '{{\"type\":\"module\"}}' > package.json\n\
                     node {}/bin/tsc --outDir dist --rootDir {root} --target es2022 \
                     --module node16 --strict --skipLibCheck --types node {}\n",
                    with_modules(&kit.modules),
                    quoted(&kit.typescript),
                    words(files),
                );
                let mains = ["main.ts", "bot.ts", "index.ts"];
                let mains = mains.map(|main| match all_in_src {
                    true => format!("src/{main}"),
                    false => main.to_owned(),
                });
                let main = match is_told_how_to_run {
                    true => "",
                    false => {
                        first_of(sources, &mains.each_ref().map(|main| &**main), "typescript")?
                    }
                };
                let main = main
                    .strip_prefix("src/")
                    .filter(|_| all_in_src)
                    .unwrap_or(main);
                let main = format!("dist/{}.js", main.trim_end_matches(".ts"));
                let start = Start::Exec(vec!["node".to_owned(), main]);
                let mut recipe = Self::new(language, &["node"], script, start);
                recipe.readable = vec![kit.modules.clone(), kit.typescript.clone()];
                recipe
            }
            Language::Python => {
                let main = match is_told_how_to_run {
                    true => None,
                    false => Some(main_file(sources, PYTHON)?),
                };
                let check = "import sys\n\
                             for name in sys.argv[1:]: compile(open(name, \"rb\").read(), name, \"exec\")";
                let script = format!("python3 -I -c '{check}' {}\n", words(main));
                let command = vec!["python3".to_owned(), main.unwrap_or_default().to_owned()];
                let start = spoken(command, uses(sources, ".py", "bot_arena"));
                Self::new(language, &["python3"], script, start)
            }
            Language::JavaScript => {
                let main = match is_told_how_to_run {
                    true => None,
                    false => Some(main_file(sources, JAVASCRIPT)?),
                };
                let by_kit = uses(sources, "js", "bot-arena");
                let mut script = String::new();
                let mut readable = Vec::new();
                if by_kit {
                    let kit = toolchain.node.as_ref();
                    let kit = kit.ok_or_else(|| absent("kit for JavaScript"))?;
                    script.push_str(&with_modules(&kit.modules));
                    readable.push(kit.modules.clone());
                }
                if main.is_some() {
                    script.push_str(&format!("node --check {}\n", words(main)));
                }
                let command = vec!["node".to_owned(), main.unwrap_or_default().to_owned()];
                let start = spoken(command, by_kit);
                let mut recipe = Self::new(language, &["node"], script, start);
                recipe.readable = readable;
                recipe
            }
            Language::Stdio => {
                if !is_told_how_to_run {
                    let bot = sources.file("bot");
                    if !bot.is_some_and(|file| file.bytes.starts_with(b"#!")) {
                        let why = format!(
                            "expected a script bot that begins with #!, as in #!/usr/bin/env \
                             python3, or {SETTINGS} with run, and with build for what is compiled"
                        );
                        return Err(BuildFault::new(FaultKind::NoRecipe, why).into());
                    }
                }
                let script = "if [ -f bot ]; then chmod +x bot; fi\n".to_owned();
                Self::new(
                    language,
                    &[],
                    script,
                    Start::Stdio(vec!["./bot".to_owned()]),
                )
            }
        })
    }
}

/// The start that `run` says.
fn start(recipe: &Recipe, run: &str, sources: &Sources) -> Result<Start, BuildFault> {
    let bad = |why: &str| {
        let why = format!("{SETTINGS}: run = \"{run}\": {why}");
        BuildFault::new(FaultKind::BadSettings, why)
    };
    let words = shlex::split(run).ok_or_else(|| bad("a quotation mark is not closed"))?;
    if words.is_empty() {
        return Err(bad("expected a command, as in python3 bot.py"));
    }
    Ok(match (recipe.language, &recipe.start) {
        (Language::Strategy, _) => {
            return Err(bad("a strategy is started by its adapter: leave it out"));
        }
        (Language::Stdio, _) => Start::Stdio(words),
        (Language::Python, _) => spoken(words, uses(sources, ".py", "bot_arena")),
        (Language::JavaScript, _) => spoken(words, uses(sources, "js", "bot-arena")),
        _ => Start::Exec(words),
    })
}

/// A command that speaks the protocol, by a kit, or reads and writes lines.
fn spoken(command: Vec<String>, by_kit: bool) -> Start {
    match by_kit {
        true => Start::Exec(command),
        false => Start::Stdio(command),
    }
}

/// Makes UTF-8 of what may be GBK: a comment of it can end in a byte that reads as a backslash.
const UTF8: &str = "\
utf8() {
if iconv -f UTF-8 -t UTF-8 \"$1\" > \"$2\" 2> /dev/null; then return; fi
if iconv -f GB18030 -t UTF-8 \"$1\" > \"$2\"; then return; fi
echo \"$1 is neither UTF-8 nor GB18030 (GBK): save it as UTF-8\"
exit 1
}
";

fn strategy(sources: &Sources) -> Recipe {
    let files: Vec<&str> = cpp_files(sources).collect();
    let headers = sources
        .paths()
        .filter(|path| path.ends_with(".h") || path.ends_with(".hpp"));
    let mut script = UTF8.to_owned();
    for path in files.iter().copied().chain(headers) {
        let path = words([path]);
        script.push_str(&format!(
            "utf8 {path} \"$HOME/text\"\ncat \"$HOME/text\" > {path}\n"
        ));
    }
    script.push_str(&format!(
        "g++ -shared -fPIC -O2 -o strategy.so -I . {}\n",
        words(files)
    ));
    let start = Start::Strategy("strategy.so".to_owned());
    Recipe::new(Language::Strategy, &["g++", "iconv"], script, start)
}

/// What a program with the kit for C++ is compiled and linked with.
fn linked(kit: &crate::CppKit) -> String {
    format!(
        "-I {} -isystem {} {} -Wl,--no-as-needed -lgrpc++_reflection -Wl,--as-needed \
         $(pkg-config --libs grpc++ protobuf absl_synchronization) -pthread",
        quoted(&kit.include),
        quoted(&kit.stubs),
        quoted(&kit.library)
    )
}

fn cpp_files_of(kit: &crate::CppKit) -> Vec<PathBuf> {
    vec![kit.include.clone(), kit.stubs.clone(), kit.library.clone()]
}

/// A copy of the kit's packages in the bot's folder. The links to their programs are left out.
fn with_modules(modules: &Path) -> String {
    let modules = quoted(modules);
    format!(
        "mkdir -p node_modules\ncp -R {modules}/. node_modules\n\
         find node_modules -name .bin -prune -exec rm -rf {{}} +\n"
    )
}

fn cpp_files(sources: &Sources) -> impl Iterator<Item = &str> {
    let is_cpp = |path: &&str| {
        [".cpp", ".cc", ".cxx"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    sources.paths().filter(is_cpp)
}

fn uses_cpp_kit(sources: &Sources) -> bool {
    let mut paths = sources.paths();
    paths.any(|path| sources.has_in(path, "#include <bot_arena/"))
}

/// True if one of the files with this ending has these words.
fn uses(sources: &Sources, ending: &str, word: &str) -> bool {
    let mut paths = sources.paths().filter(|path| path.ends_with(ending));
    paths.any(|path| sources.has_in(path, word))
}

fn is_test(path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.ends_with("_test") || stem.ends_with(".test")
}

/// The names of a main file, and the endings of what is one where it is alone.
type MainNames = (&'static [&'static str], &'static [&'static str]);

const PYTHON: MainNames = (&["bot.py", "main.py"], &[".py"]);
const JAVASCRIPT: MainNames = (
    &["bot.js", "bot.mjs", "main.js", "main.mjs"],
    &[".js", ".mjs"],
);

/// The file that is started: by its name, or since it is the only one.
fn main_file(sources: &Sources, (names, endings): MainNames) -> Result<&str, BuildFault> {
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

/// The first of these files that is there.
fn first_of<'n>(sources: &Sources, names: &[&'n str], what: &str) -> Result<&'n str, BuildFault> {
    let found = names.iter().find(|name| sources.file(name).is_some());
    found.copied().ok_or_else(|| {
        let why = format!(
            "{what}: expected {}, found {}",
            names.join(" or "),
            list(sources.paths())
        );
        BuildFault::new(FaultKind::NoRecipe, why)
    })
}

/// The class with `main`, with its package.
fn main_class(sources: &Sources) -> Result<String, BuildFault> {
    let files = sources.paths().filter(|path| path.ends_with(".java"));
    let mut with_main = files.filter(|path| sources.has_in(path, "static void main("));
    let (Some(path), None) = (with_main.next(), with_main.next()) else {
        let why = format!(
            "java: expected one class with static void main, or {SETTINGS} with run = \"java -cp \
             bot.jar:kit.jar CLASS\""
        );
        return Err(BuildFault::new(FaultKind::NoRecipe, why));
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let class = name.trim_end_matches(".java");
    let text = sources
        .file(path)
        .map(|file| String::from_utf8_lossy(&file.bytes));
    let text = text.unwrap_or_default();
    let mut lines = text.lines();
    let package = lines.find_map(|line| line.trim().strip_prefix("package ")?.strip_suffix(';'));
    Ok(match package {
        Some(package) => format!("{}.{class}", package.trim()),
        None => class.to_owned(),
    })
}

/// These files as words of a shell; none begins like an option.
fn words<'p>(paths: impl IntoIterator<Item = &'p str>) -> String {
    let quoted = paths
        .into_iter()
        .map(|path| quoted(Path::new(&format!("./{path}"))));
    quoted.collect::<Vec<_>>().join(" ")
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    // A path that has been checked, or of this machine's own, has no zero byte.
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| String::new(), |word| word.into_owned())
}

/// Some of these, for a message.
fn list<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    const MOST: usize = 10;
    let mut all: Vec<&str> = paths.collect();
    let more = all.len() > MOST;
    all.truncate(MOST);
    let and_more = if more { ", …" } else { "" };
    format!("{}{and_more}", all.join(", "))
}
