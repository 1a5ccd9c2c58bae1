//! What each language is built by: the lines of a shell, and what they need.

use std::path::{Path, PathBuf};

use crate::{
    fault::{BuildError, BuildFault, FaultKind},
    language::{JAVASCRIPT, Language, PYTHON, cpp_files, list, main_file},
    recipe::{Recipe, Start, spoken, uses},
    settings::SETTINGS,
    sources::Sources,
    toolchain::{CppKit, Toolchain},
};

/// The recipe of a language. Who `is_told` how the bot is started looks for no main file.
///
/// # Errors
///
/// A file is missing, or this machine has not what is needed.
pub(crate) fn recipe(
    language: Language,
    sources: &Sources,
    is_told: bool,
    toolchain: &Toolchain,
) -> Result<Recipe, BuildError> {
    match language {
        Language::Strategy => Ok(strategy(sources)),
        Language::Brain => brain(toolchain),
        Language::Cpp => cpp(sources, toolchain),
        Language::Rust => rust(sources, toolchain),
        Language::Go => go(toolchain),
        Language::Java => java(sources, is_told, toolchain),
        Language::TypeScript => typescript(sources, is_told, toolchain),
        Language::Python => python(sources, is_told),
        Language::JavaScript => javascript(sources, is_told, toolchain),
        Language::Stdio => stdio(sources, is_told),
    }
}

fn absent(what: &str) -> BuildError {
    BuildError::Ours(format!("this machine has no {what}"))
}

fn this_program() -> Start {
    Start::Exec(vec!["./bot".to_owned()])
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

/// A brain, with the adapter.
fn brain(toolchain: &Toolchain) -> Result<Recipe, BuildError> {
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
    let mut recipe = Recipe::new(Language::Brain, &tools, script, this_program());
    recipe.readable = [
        vec![brain.include.clone(), brain.player.clone()],
        brain.objects.clone(),
        cpp_files_of(cpp),
    ]
    .concat();
    Ok(recipe)
}

/// C++, with the kit.
fn cpp(sources: &Sources, toolchain: &Toolchain) -> Result<Recipe, BuildError> {
    let kit = toolchain.cpp.as_ref();
    let kit = kit.ok_or_else(|| absent("kit for C++"))?;
    let files = cpp_files(sources).filter(|path| !is_test(path));
    let script = format!(
        "g++ -std=c++20 -O2 -o bot -I . {} {}\n",
        words(files),
        linked(kit)
    );
    let mut recipe = Recipe::new(
        Language::Cpp,
        &["g++", "pkg-config"],
        script,
        this_program(),
    );
    recipe.readable = cpp_files_of(kit);
    Ok(recipe)
}

/// Rust, with the kit: by its compiler alone.
fn rust(sources: &Sources, toolchain: &Toolchain) -> Result<Recipe, BuildError> {
    let kit = toolchain.rust.as_ref();
    let kit = kit.ok_or_else(|| absent("kit for Rust"))?;
    let main = first_of(sources, &["src/main.rs", "main.rs"], "rust")?;
    let script = format!(
        "rustc --edition 2024 -C opt-level=3 -C strip=debuginfo --crate-name bot -o bot {main} \
         --extern bot_kit={} -L dependency={}\n",
        quoted(&kit.library),
        quoted(&kit.dependencies),
        main = words([main]),
    );
    let mut recipe = Recipe::new(Language::Rust, &["rustc", "cc"], script, this_program());
    recipe.readable = vec![kit.library.clone(), kit.dependencies.clone()];
    Ok(recipe)
}

/// Go, with the kit, in a copy whose `go.mod` is ours.
fn go(toolchain: &Toolchain) -> Result<Recipe, BuildError> {
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
         {cache}go build -ldflags=-w -o \"$HOME/entry/bot\" .\n"
    );
    let mut recipe = Recipe::new(Language::Go, &["go", "sed"], script, this_program());
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
    Ok(recipe)
}

/// Java, with the kit and an archive of its classes, with which it starts nearly twice as fast.
/// Java takes the archive only where the jars have the times that they had when it was made, and a packed
/// bot has no times. Where there is no archive the bot starts as ever.
fn java(sources: &Sources, is_told: bool, toolchain: &Toolchain) -> Result<Recipe, BuildError> {
    let kit = toolchain.java.as_ref();
    let kit = kit.ok_or_else(|| absent("kit for Java"))?;
    let files = sources.paths().filter(|path| path.ends_with(".java"));
    let files = files.filter(|path| !path.ends_with("Test.java"));
    let script = format!(
        "cp {kit} kit.jar\n\
         javac -encoding UTF-8 -proc:none -cp kit.jar -d \"$HOME/classes\" {files}\n\
         jar --create --file bot.jar -C \"$HOME/classes\" .\n\
         touch -d @0 bot.jar kit.jar\n\
         java -Xlog:disable -XX:ArchiveClassesAtExit=bot.jsa -cp bot.jar:kit.jar botarena.WarmUp \
         || rm -f bot.jsa\n",
        kit = quoted(kit),
        files = words(files),
    );
    let main = match is_told {
        true => String::new(),
        false => main_class(sources)?,
    };
    let archive = "-XX:SharedArchiveFile=bot.jsa";
    let command = ["java", archive, "-cp", "bot.jar:kit.jar", &main];
    let command = command.map(str::to_owned).into();
    let mut recipe = Recipe::new(
        Language::Java,
        &["java", "javac", "jar"],
        script,
        Start::Exec(command),
    );
    recipe.readable = vec![kit.clone()];
    Ok(recipe)
}

/// The files that a bot in TypeScript begins with.
const TYPESCRIPT_MAINS: &[&str] = &[
    "main.ts",
    "bot.ts",
    "index.ts",
    "src/main.ts",
    "src/bot.ts",
    "src/index.ts",
];

/// TypeScript, with the kit.
fn typescript(
    sources: &Sources,
    is_told: bool,
    toolchain: &Toolchain,
) -> Result<Recipe, BuildError> {
    let kit = toolchain.node.as_ref();
    let kit = kit.ok_or_else(|| absent("kit for TypeScript"))?;
    let files = sources
        .paths()
        .filter(|path| path.ends_with(".ts") && !path.ends_with(".d.ts") && !is_test(path));
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
    let main = match is_told {
        true => "",
        false => first_of(sources, TYPESCRIPT_MAINS, "typescript")?,
    };
    let main = main
        .strip_prefix("src/")
        .filter(|_| all_in_src)
        .unwrap_or(main);
    let main = format!("dist/{}.js", main.trim_end_matches(".ts"));
    let start = Start::Exec(vec!["node".to_owned(), main]);
    let mut recipe = Recipe::new(Language::TypeScript, &["node"], script, start);
    recipe.readable = vec![kit.modules.clone(), kit.typescript.clone()];
    Ok(recipe)
}

/// Python: the syntax of the main file is checked.
fn python(sources: &Sources, is_told: bool) -> Result<Recipe, BuildError> {
    let main = match is_told {
        true => None,
        false => Some(main_file(sources, PYTHON)?),
    };
    let check = "import sys\n\
                 for name in sys.argv[1:]: compile(open(name, \"rb\").read(), name, \"exec\")";
    let script = format!("python3 -I -c '{check}' {}\n", words(main));
    let command = vec!["python3".to_owned(), main.unwrap_or_default().to_owned()];
    let start = spoken(command, uses(sources, ".py", "bot_arena"));
    Ok(Recipe::new(Language::Python, &["python3"], script, start))
}

/// JavaScript: the syntax of the main file is checked.
fn javascript(
    sources: &Sources,
    is_told: bool,
    toolchain: &Toolchain,
) -> Result<Recipe, BuildError> {
    let main = match is_told {
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
    let mut recipe = Recipe::new(Language::JavaScript, &["node"], script, start);
    recipe.readable = readable;
    Ok(recipe)
}

/// A script.
fn stdio(sources: &Sources, is_told: bool) -> Result<Recipe, BuildError> {
    if !is_told {
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
    let start = Start::Stdio(vec!["./bot".to_owned()]);
    Ok(Recipe::new(Language::Stdio, &[], script, start))
}

/// What a program with the kit for C++ is compiled and linked with.
fn linked(kit: &CppKit) -> String {
    format!(
        "-I {} -isystem {} {} -Wl,--no-as-needed -lgrpc++_reflection -Wl,--as-needed \
         $(pkg-config --libs grpc++ protobuf absl_synchronization) -pthread -Wl,--strip-debug",
        quoted(&kit.include),
        quoted(&kit.stubs),
        quoted(&kit.library)
    )
}

fn cpp_files_of(kit: &CppKit) -> Vec<PathBuf> {
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

fn is_test(path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.ends_with("_test") || stem.ends_with(".test")
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
