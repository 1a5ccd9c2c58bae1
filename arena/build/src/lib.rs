//! Builds the sources that strangers send into packed bots: [`Sources::read`] unpacks an upload
//! within bounds, [`build`] compiles it in a sandbox, and packs what came of it as
//! `arena bots add --dir` does. What is wrong with an upload is a [`BuildFault`] that names it; what is
//! wrong with this machine is [`BuildError::Ours`], and no fault of the author's.
//!
//! It knows no store, and not whose the sources are. It starts no runtime: [`build`] blocks, and
//! ends soon after it is cancelled.
//!
//! # What an upload is
//!
//! A zip, a tar, a tar.gz, or one source file by its name. A folder that everything lies in is left
//! out. The first language in this table whose files are there is taken, unless `entry.toml` says
//! another one.
//!
//! | language | found by | built by | started by |
//! | --- | --- | --- | --- |
//! | `strategy` | a C++ file with `getPoint(`, without the kit | all C++ files to `strategy.so` | `strategy:strategy.so` |
//! | `brain` | `brain.cpp` | it, with the adapter for brains, to `bot` | `exec:./bot` |
//! | `rust` | `Cargo.toml` or a `.rs` file | `rustc` of `src/main.rs` or `main.rs` to `bot`; no cargo, so no build script | `exec:./bot` |
//! | `go` | `go.mod` or a `.go` file | `go build` of the folder to `bot` | `exec:./bot` |
//! | `java` | a `.java` file | all but `…Test.java` to `bot.jar`, beside `kit.jar`, and an archive of classes | `exec:java '-XX:SharedArchiveFile=bot.jsa' -cp bot.jar:kit.jar CLASS`, the class with `main` |
//! | `typescript` | a `.ts` file | all but `….test.ts` to `dist/`; the kit's packages are put beside it, no script of npm runs | `exec:node dist/main.js`, or `bot.js` or `index.js` |
//! | `cpp` | a C++ file | all but `…_test.cpp`, with the kit, to `bot` | `exec:./bot` |
//! | `python` | `bot.py`, `main.py`, or the only `.py` file | its syntax is checked | `exec:python3 bot.py` where a file names `bot_arena`, else `stdio:python3 bot.py` |
//! | `javascript` | `bot.js`, `main.js` (also `.mjs`), or the only one | its syntax is checked | `exec:node bot.js` where a file names `bot-arena`, else `stdio:node bot.js` |
//! | `stdio` | `bot`, a script that begins with `#!` | nothing | `stdio:./bot` |
//!
//! `entry.toml` has up to three lines. `build` replaces what the language does by itself; without
//! `language` the bot then speaks lines of JSON (`docs/stdio.md`).
//!
//! ```toml
//! language = "stdio"
//! build = "make"
//! run = "./bot --fast"
//! ```
//!
//! The bot's folder is that of its sources with what was built in it: data that lies there, it can
//! read when it plays.
//!
//! # What a build sees and takes
//!
//! The folder of its sources, the system's programs and libraries, and the kit of its language, all
//! read-only; no network, no other process, no variable but those that are named here. It writes into
//! `HOME`, `/var/tmp` and `/dev/shm`, which are its own, in memory and bounded in bytes and in files,
//! and is killed with all that it has started when it is over. What it hands out is a tar file on its
//! standard output, which is read with the same care as the upload.
//!
//! Those are the walls of [`referee_sandbox`]. With [`SandboxMode::Require`] there is no sandbox
//! unless all of them hold; otherwise [`Sandbox::walls`] says which are missing, and a limit
//! whose wall is missing does not hold.
//!
//! [`SandboxMode::Require`]: referee_sandbox::SandboxMode::Require
//! [`Sandbox::walls`]: referee_sandbox::Sandbox::walls
//!
//! # What the image must have
//!
//! Nothing is fetched: the compilers, kits and packages are those that a [`Toolchain`] names.
//!
//! | for | programs (Debian) | kit |
//! | --- | --- | --- |
//! | all | `sh`, `cp`, `du` (coreutils), `find` (findutils), `tar` | |
//! | `strategy` | `g++`, `iconv` (libc-bin) | |
//! | `cpp`, `brain` | the same, `pkg-config` (pkgconf), libgrpc++-dev, libprotobuf-dev | [`CppKit`] and [`BrainKit`]: `cmake -S bots -B FOLDER` and what it builds |
//! | `rust` | `rustc`, `cc` | [`RustKit`]: `cargo build -p bot-kit` by the same compiler |
//! | `go` | `go`, `sed` | [`GoKit`]: `bots/go`, its modules, and what was compiled of them |
//! | `java` | `java`, `javac`, `jar` (openjdk-17-jdk-headless) | a jar with the kit and all that it needs |
//! | `typescript`, `javascript` | `node` | [`NodeKit`]: `node_modules` with `bot-arena`, and the package `typescript` |
//! | `python` | `python3`; to play, with the package `bot_arena` | |

#![forbid(unsafe_code)]

mod build;
mod fault;
mod language;
mod limits;
mod recipe;
mod recipes;
mod run;
mod settings;
mod sources;
mod toolchain;
mod tree;

pub use build::{Built, build};
pub use fault::{BuildError, BuildFault, FaultKind};
pub use language::Language;
pub use limits::BuildLimits;
pub use sources::Sources;
pub use toolchain::{BrainKit, CppKit, GoKit, NodeKit, RustKit, Toolchain};
