//! The compilers and kits of the image that builds run in. Nothing is fetched.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use referee_sandbox::is_executable;

use crate::fault::BuildError;

/// Where the compilers, the kits and the packages of this machine are. What is absent is an error
/// of the builds that need it, and of no other.
#[derive(Clone, Debug, Default)]
pub struct Toolchain {
    /// The folders in which programs are looked for.
    pub path: Vec<PathBuf>,
    /// Files and folders outside of the system's that compilers read.
    pub readable: Vec<PathBuf>,
    /// The kit for C++.
    pub cpp: Option<CppKit>,
    /// The adapter for brains, which needs the kit for C++.
    pub brain: Option<BrainKit>,
    /// The kit for Go.
    pub go: Option<GoKit>,
    /// A jar with the kit for Java and all that it needs.
    pub java: Option<PathBuf>,
    /// The kit for TypeScript and JavaScript.
    pub node: Option<NodeKit>,
    /// The kit for Rust.
    pub rust: Option<RustKit>,
}

/// The kit for C++, compiled.
#[derive(Clone, Debug)]
pub struct CppKit {
    /// Its headers: `bots/cpp/include`.
    pub include: PathBuf,
    /// The headers made of the messages.
    pub stubs: PathBuf,
    /// `libbot_arena_kit.a`.
    pub library: PathBuf,
}

/// The adapter for brains.
#[derive(Clone, Debug)]
pub struct BrainKit {
    /// The lab's headers: `bots/adapters/brain/include`.
    pub include: PathBuf,
    /// `bots/adapters/brain/src/player.cpp`, which includes the brain.
    pub player: PathBuf,
    /// The other files of that folder, compiled.
    pub objects: Vec<PathBuf>,
}

/// The kit for Go.
#[derive(Clone, Debug)]
pub struct GoKit {
    /// The module `botarena`: `bots/go`.
    pub module: PathBuf,
    /// The modules that it needs, as in `GOMODCACHE`.
    pub modules: PathBuf,
    /// What has been compiled of them: `GOCACHE` after `CGO_ENABLED=0 go build ./...` in the module.
    /// Without it each build compiles all of them, which takes minutes.
    pub cache: Option<PathBuf>,
}

/// The kit for TypeScript and JavaScript.
#[derive(Clone, Debug)]
pub struct NodeKit {
    /// A folder `node_modules` with `bot-arena` and all that it needs, copied, not linked. It becomes
    /// part of each bot.
    pub modules: PathBuf,
    /// The package `typescript`.
    pub typescript: PathBuf,
}

/// The kit for Rust, compiled by the very compiler that is in the path.
#[derive(Clone, Debug)]
pub struct RustKit {
    /// `libbot_kit-….rlib`.
    pub library: PathBuf,
    /// The folder of all that it was compiled with.
    pub dependencies: PathBuf,
}

impl Toolchain {
    /// The programs of this machine's system, and no kit.
    #[must_use]
    pub fn of_system() -> Self {
        let folders = ["/usr/local/go/bin", "/usr/local/bin", "/usr/bin", "/bin"];
        Self {
            path: folders.map(PathBuf::from).into(),
            ..Self::default()
        }
    }

    /// The programs of this machine, and the kits of a checkout as far as they are built: those
    /// that `cargo xtask test` builds into `target/languages`, the kit for Rust in `debug` beside it,
    /// and the kit for TypeScript where its sources are. For tests and developers: it runs programs to ask them where things are.
    #[must_use]
    pub fn of_checkout(checkout: &Path, languages: &Path) -> Self {
        let bots = checkout.join("bots");
        let there = |path: PathBuf| path.exists().then_some(path);
        let cpp = there(languages.join("cpp/cpp/libbot_arena_kit.a")).map(|library| CppKit {
            include: bots.join("cpp/include"),
            stubs: languages.join("cpp/cpp/stubs"),
            library,
        });
        let objects = languages.join("cpp/brain/CMakeFiles/brain_harness.dir/src");
        let brain = files_ending(&objects, ".o").map(|objects| BrainKit {
            include: bots.join("adapters/brain/include"),
            player: bots.join("adapters/brain/src/player.cpp"),
            objects,
        });
        let mut toolchain = Self {
            cpp,
            brain,
            java: there(languages.join("java/random.jar")),
            ..Self::of_system()
        };
        let module = bots.join("go");
        let asked = |name: &str| said("go", &["env", name], &module).map(PathBuf::from);
        toolchain.go = asked("GOMODCACHE").and_then(there).map(|modules| GoKit {
            module: module.clone(),
            modules,
            cache: there(languages.join("go-cache")),
        });
        // The one that the module asks for; where the system's is too old to know it, the one that
        // `cargo xtask test` gets.
        let got = files_ending(&languages.with_file_name("tools").join("go/golang.org"), "");
        let root = got
            .and_then(|mut got| got.pop())
            .or_else(|| asked("GOROOT"));
        toolchain.add_compiler(root);
        let typescript = bots.join("typescript");
        let modules = there(typescript.join("samples/node_modules/bot-arena/package.json"));
        let compiler = there(typescript.join("node_modules/typescript"));
        toolchain.node = modules.zip(compiler).map(|(_, compiler)| NodeKit {
            modules: typescript.join("samples/node_modules"),
            typescript: compiler,
        });
        let debug = languages.with_file_name("debug");
        toolchain.rust = there(debug.join("libbot_kit.rlib")).map(|library| RustKit {
            library,
            dependencies: debug.join("deps"),
        });
        let root = said("rustc", &["--print", "sysroot"], checkout);
        toolchain.add_compiler(root.map(PathBuf::from));
        toolchain
    }

    /// A compiler with all that it needs in one folder.
    fn add_compiler(&mut self, root: Option<PathBuf>) {
        if let Some(root) = root {
            self.path.insert(0, root.join("bin"));
            self.readable.push(root);
        }
    }

    /// The value of `PATH`.
    pub(crate) fn search_path(&self) -> String {
        let folders = self.path.iter().map(|folder| folder.display().to_string());
        folders.collect::<Vec<_>>().join(":")
    }

    /// Checks that these programs are there.
    pub(crate) fn require(&self, programs: &[&str]) -> Result<(), BuildError> {
        match programs.iter().find(|program| !self.has(program)) {
            Some(program) => {
                let path = self.search_path();
                let why = format!(
                    "the image has no program {program} in {path}: install it ({})",
                    package(program)
                );
                Err(BuildError::Ours(why))
            }
            None => Ok(()),
        }
    }

    /// True if there is a program of this name.
    pub(crate) fn has(&self, program: &str) -> bool {
        let mut files = self.path.iter().map(|folder| folder.join(program));
        files.any(|file| is_executable(&file))
    }
}

/// The package of Debian that has a program.
fn package(program: &str) -> &'static str {
    match program {
        "g++" => "Debian: g++",
        "python3" => "Debian: python3",
        "node" => "Debian: nodejs, or https://nodejs.org",
        "go" => "https://go.dev",
        "java" | "javac" | "jar" => "Debian: openjdk-17-jdk-headless",
        "rustc" => "https://rustup.rs",
        "pkg-config" => "Debian: pkgconf",
        "iconv" => "Debian: libc-bin",
        _ => "Debian has a package of this name",
    }
}

fn files_ending(folder: &Path, ending: &str) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let files = entries.map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    (!files.is_empty()).then_some(files)
}

/// The one line that a program of this machine answers in a folder.
fn said(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let mut command = Command::new(program);
    if let Some(path) = env::var_os("PATH") {
        let more = env::split_paths(&path).chain(["/usr/local/go/bin".into()]);
        command.env("PATH", env::join_paths(more).ok()?);
    }
    let output = command.args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
