//! `cargo xtask images`: container images of the programs, of the kits' samples, and of what else a
//! deployment needs. What an image holds is built on this machine; a container engine is handed a
//! folder with two files, a Dockerfile and an archive of the image's files, which is the same for
//! the same commit.

mod arch;
mod base;
mod context;
mod engine;
mod licences;
mod npm;
mod options;
mod pip;
mod programs;
mod release;
mod rootfs;
mod sbom;
mod source;
mod wheel;

pub(crate) use base::Base;
pub(crate) use release::run as release;

use self::{
    engine::Engine,
    options::{Options, Verb},
    programs::{ARENA, BOT, Build, INIT, Program, REFEREE, SAMPLE, SERVE, STRATEGY},
};
use crate::shell::{Result, stream, target_dir};

/// The content of an image.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// Rust programs and nothing else: the image's own, and those that it starts.
    Rust(Program, &'static [Program]),
    /// A Rust program on an image that has the C and the C++ library.
    Linked(Program),
    /// The C++ sample of this name with the libraries that it is linked with.
    Cpp(&'static str),
    /// The Python sample in this file, its kit and what that needs, on an image with Python.
    Python(&'static str),
    /// The sample in JavaScript in this file, its kit and what that needs, on an image with Node.
    Node(&'static str),
    /// Rust programs and the kit for Python, on an image with languages: what packed bots need. Those
    /// in JavaScript bring the modules with them that they import.
    Host(&'static [Program]),
    /// Rust programs, the kit for Python, and the sources of the kit for C++, which the Dockerfile
    /// compiles, on an image with compilers.
    Builder(&'static [Program]),
    /// A program of Debian, which the Dockerfile installs, on an image of Debian.
    Debian(Files),
}

/// The files that are added to a program of Debian: they lie in the image's folder beside its
/// Dockerfile.
#[derive(Clone, Copy, Debug)]
struct Files {
    /// Go to `/usr/local/bin`.
    programs: &'static [&'static str],
    /// Go to `/etc/bot-arena`.
    configuration: &'static [&'static str],
}

/// An image: its name is also that of its Dockerfile.
struct Image {
    name: &'static str,
    content: Content,
    /// True if it has a folder of its own to write to, `/data`.
    writes: bool,
    /// True if it is a bot, which [`programs::INIT`] starts.
    is_bot: bool,
}

#[rustfmt::skip]
const IMAGES: &[Image] = &[
    Image { name: "arena", content: Content::Rust(ARENA, &[SERVE]), writes: true, is_bot: false },
    Image { name: "referee", content: Content::Rust(REFEREE, &[]), writes: false, is_bot: false },
    Image { name: "bot", content: Content::Rust(BOT, &[]), writes: false, is_bot: true },
    Image { name: "sample-rust", content: Content::Rust(SAMPLE, &[]), writes: false, is_bot: true },
    Image { name: "sample-cpp", content: Content::Cpp("random"), writes: false, is_bot: true },
    Image { name: "sample-python", content: Content::Python("random_bot.py"), writes: false, is_bot: true },
    Image { name: "sample-node", content: Content::Node("random.js"), writes: false, is_bot: true },
    Image { name: "strategy", content: Content::Linked(STRATEGY), writes: false, is_bot: true },
    Image { name: "host", content: Content::Host(&[REFEREE, STRATEGY]), writes: false, is_bot: true },
    Image { name: "builder", content: Content::Builder(&[SERVE, STRATEGY]), writes: false, is_bot: false },
    Image { name: "postgres", content: Content::Debian(POSTGRES), writes: true, is_bot: false },
    Image { name: "prometheus", content: Content::Debian(NOTHING), writes: true, is_bot: false },
];

const POSTGRES: Files = Files {
    programs: &["start-postgres"],
    configuration: &["postgresql.conf", "pg_hba.conf", "pg_ident.conf"],
};

const NOTHING: Files = Files {
    programs: &[],
    configuration: &[],
};

/// The name of all images before the last slash, unless a registry is named. Nobody can publish
/// images as `localhost/…`, so what is not on a machine is never pulled from a stranger.
const REGISTRY: &str = "localhost/bot-arena";

/// An estimate of what it costs to build all programs: deploy/README.md has what was measured.
const COST: &str = "\
All programs together take about 26 minutes on two free cores, 3.2 GB of memory and 3 GB of disk below
target/images; what is built already is not built again.";

impl Content {
    /// True if it stands on another image.
    const fn has_base(self) -> bool {
        matches!(
            self,
            Self::Linked(_)
                | Self::Python(_)
                | Self::Node(_)
                | Self::Host(_)
                | Self::Builder(_)
                | Self::Debian(_)
        )
    }

    /// True if it can be built for another architecture than that of this machine.
    const fn is_portable(self) -> bool {
        // Debian's libraries of C++ are those of this machine.
        !matches!(self, Self::Cpp(_))
    }
}

impl Image {
    /// The Rust programs in it.
    fn programs(&self) -> Vec<Program> {
        let mut programs = match self.content {
            Content::Rust(program, beside) => [&[program], beside].concat(),
            Content::Linked(program) => vec![program],
            Content::Host(programs) | Content::Builder(programs) => programs.to_vec(),
            _ => Vec::new(),
        };
        programs.extend(self.is_bot.then_some(INIT));
        programs
    }
}

/// Does what the words after `images` ask for.
///
/// # Errors
/// They can't be understood, or something can't be built.
pub(crate) fn run(words: &[&str]) -> Result {
    let options = Options::read(words)?;
    let engine = Engine {
        host: options.engine_host.as_deref(),
    };
    // Compiling takes long: whatever else may fail is looked at before.
    if options.verb != Verb::Contexts {
        engine.check()?;
    }
    if options.verb == Verb::Base {
        if !options.prepared {
            Base::begin()?.finish()?;
        }
        return base::import(engine, &options.registry);
    }
    if options.verb == Verb::Build {
        engine.check_bases(&options.images, options.base.as_deref(), options.arch)?;
    }
    if !options.prepared {
        options.arch.check_tools()?;
        eprintln!("{COST}");
        context::write(&options.images, options.build())?;
    }
    if options.verb == Verb::Contexts {
        return Ok(());
    }
    for image in &options.images {
        build(image, &options, engine)?;
    }
    Ok(())
}

/// Writes what the tests of `arena` build images of, and a release, from programs that are built already.
///
/// # Errors
/// Something can't be built.
pub(crate) fn for_tests(base: Base) -> Result {
    let images: Vec<_> = IMAGES.iter().collect();
    let build = Build {
        profile: programs::TESTS,
        arch: arch::Arch::host()?,
    };
    context::write(&images, build)?;
    release::for_tests(build)?;
    base.finish()
}

/// Has the engine build one image of its context.
fn build(image: &Image, options: &Options, engine: Engine<'_>) -> Result {
    let context = context::folder(image, options.arch)?;
    if !context.join("Dockerfile").is_file() {
        let context = context.display();
        return Err(format!("{context} is not there yet: run this without --prepared").into());
    }
    let mut docker = engine.docker();
    docker.args(["build", "--quiet"]);
    for tag in options.tags()? {
        docker.arg(format!("--tag={}/{}:{tag}", options.registry, image.name));
    }
    if options.is_foreign()? {
        docker.arg(format!("--platform=linux/{}", options.arch.name()));
    }
    if let (true, Some(base)) = (image.content.has_base(), &options.base) {
        docker.arg(format!("--build-arg=BASE={base}"));
    }
    stream(docker.arg(context))
}

/// The folder of all that is written here.
fn folder() -> std::path::PathBuf {
    target_dir().join("images")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{git_files, root};

    /// The place of a name of one of our images in a line, if it is one that anybody may take on
    /// Docker Hub: `bot-arena/arena`.
    fn public_name(line: &str) -> bool {
        IMAGES
            .iter()
            .map(|image| image.name)
            .chain(["base"])
            .any(|image| {
                let name = format!("bot-arena/{image}");
                line.match_indices(&name).any(|(at, _)| {
                    let belongs = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
                    !line[..at].ends_with(belongs) && !line[at + name.len()..].starts_with(belongs)
                })
            })
    }

    #[test]
    fn the_engine_is_asked_before_anything_is_compiled() {
        let said = run(&["--engine-host", "unix:///nowhere", "arena"]).unwrap_err();
        assert!(said.to_string().contains("does not answer"), "{said}");
    }

    #[test]
    fn no_file_names_an_image_that_anybody_may_publish() {
        assert!(public_name("image: bot-arena/arena:0.1.0"));
        assert!(!public_name("image: localhost/bot-arena/arena:0.1.0"));
        assert!(!public_name("git clone bot-arena/bots"));
        // This file and the changes of earlier versions are about such names.
        let left_out = ["CHANGELOG.md", "xtask/src/images.rs"];
        for file in git_files(".").unwrap() {
            let Ok(text) = std::fs::read_to_string(root().join(&file)) else {
                continue;
            };
            let mut lines = text.lines().filter(|line| public_name(line));
            if let (false, Some(line)) = (left_out.contains(&file.as_str()), lines.next()) {
                panic!("{file}: expected {REGISTRY}/NAME: {line}");
            }
        }
    }
}
