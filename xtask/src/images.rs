//! `cargo xtask images`: container images of the programs, of the kits' samples, and of what else a
//! deployment needs. What an image holds is built on this machine; a container engine is handed a
//! folder with two files, a Dockerfile and an archive of the image's files, which is the same for
//! the same commit.

mod base;
mod context;
mod npm;
mod options;
mod pip;
mod programs;
mod rootfs;
mod sbom;
mod source;

pub(crate) use base::Base;
use programs::{Program, STRATEGY};

use self::options::{Options, Verb};
use crate::shell::{Result, command, stream, target_dir};

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
    /// The Node sample in this file and what it needs, on an image with Node.
    Node(&'static str),
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
    Image { name: "arena", content: Content::Rust(Program::binary("arena", "arena"), &[SERVE]), writes: true, is_bot: false },
    Image { name: "referee", content: Content::Rust(Program::binary("referee-cli", "referee"), &[]), writes: false, is_bot: false },
    Image { name: "bot", content: Content::Rust(Program::binary("house-bots", "bot"), &[]), writes: false, is_bot: true },
    Image { name: "sample-rust", content: Content::Rust(Program::example("bot-kit", "random"), &[]), writes: false, is_bot: true },
    Image { name: "sample-cpp", content: Content::Cpp("random"), writes: false, is_bot: true },
    Image { name: "sample-python", content: Content::Python("random_bot.py"), writes: false, is_bot: true },
    Image { name: "sample-node", content: Content::Node("random.js"), writes: false, is_bot: true },
    Image { name: "strategy", content: Content::Linked(STRATEGY), writes: false, is_bot: true },
    Image { name: "postgres", content: Content::Debian(POSTGRES), writes: true, is_bot: false },
    Image { name: "prometheus", content: Content::Debian(NOTHING), writes: true, is_bot: false },
];

/// The program that `arena` becomes to serve.
const SERVE: Program = Program::binary("arena-serve", "arena-serve");

const POSTGRES: Files = Files {
    programs: &["start-postgres"],
    configuration: &["postgresql.conf", "pg_hba.conf", "pg_ident.conf"],
};

const NOTHING: Files = Files {
    programs: &[],
    configuration: &[],
};

/// The name of all images before the slash.
const PREFIX: &str = "bot-arena";

const ABSENT: &str = "\
Images are built by an engine of containers: Docker, or a program with the same command line. It
must be running, and this user must be allowed to use it; --engine-host says where it is.";

impl Content {
    /// True if it stands on another image.
    const fn has_base(self) -> bool {
        matches!(
            self,
            Self::Linked(_) | Self::Python(_) | Self::Node(_) | Self::Debian(_)
        )
    }
}

/// Does what the words after `images` ask for.
///
/// # Errors
/// They can't be understood, or something can't be built.
pub(crate) fn run(words: &[&str]) -> Result {
    let options = Options::read(words)?;
    if options.verb == Verb::Base {
        if !options.prepared {
            Base::begin()?.finish()?;
        }
        return base::import(options.engine_host.as_deref());
    }
    if !options.prepared {
        context::write(&options.images, &options.profile)?;
    }
    if options.verb == Verb::Contexts {
        return Ok(());
    }
    for image in &options.images {
        build(image, &options)?;
    }
    Ok(())
}

/// Writes what the tests of `arena` build images of, from programs that are built already.
///
/// # Errors
/// Something can't be built.
pub(crate) fn for_tests(base: Base) -> Result {
    let images: Vec<_> = IMAGES.iter().collect();
    context::write(&images, programs::TESTS)?;
    base.finish()
}

/// Has the engine build one image of its context.
fn build(image: &Image, options: &Options) -> Result {
    let context = context::folder(image);
    if !context.join("Dockerfile").is_file() {
        let context = context.display();
        return Err(format!("{context} is not there yet: run this without --prepared").into());
    }
    let mut docker = docker(options.engine_host.as_deref());
    docker.args(["build", "--quiet"]);
    for tag in ["latest", env!("CARGO_PKG_VERSION")] {
        docker.arg(format!("--tag={PREFIX}/{}:{tag}", image.name));
    }
    if let (true, Some(base)) = (image.content.has_base(), &options.base) {
        docker.arg(format!("--build-arg=BASE={base}"));
    }
    stream(docker.arg(context)).map_err(|error| format!("{error}\n{ABSENT}").into())
}

fn docker(engine_host: Option<&str>) -> std::process::Command {
    let mut docker = command("docker");
    docker.args(engine_host.map(|host| format!("--host={host}")));
    docker
}

/// The folder of all that is written here.
fn folder() -> std::path::PathBuf {
    target_dir().join("images")
}
