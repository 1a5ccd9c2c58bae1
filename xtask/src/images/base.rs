//! An image of Debian with what the samples, PostgreSQL and Prometheus need, made of packages: for a
//! machine that reaches no registry of images. Elsewhere `docker pull` is the usual way.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
};

use super::{engine::Engine, folder};
use crate::shell::{Result, command, stream};

const SUITE: &str = "bookworm";
/// The packages of Debian that bots in Python, in Node and in C++ with gRPC need, whose libraries
/// have no newer name in it; those that a deployment has besides our programs; and the compiler of
/// strategies.
const PACKAGES: &str = "python3,nodejs,libgrpc++1.51,libstdc++6,postgresql,prometheus,g++";
/// What the kit for C++ is compiled with, in the image `builder`. The tests build no entry with it there.
const CPP_KIT: &str =
    "cmake,make,pkgconf,libgrpc++-dev,libprotobuf-dev,protobuf-compiler,protobuf-compiler-grpc";
/// Nobody reads it there. The last three are half of all: PostgreSQL's compiler of queries, which
/// ours leaves off, and tables of the pages of Prometheus that are in other files too.
const LEFT_OUT: [&str; 7] = [
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/lib/*/libLLVM*",
    "/usr/lib/postgresql/*/lib/bitcode/*",
    "/usr/share/javascript/*/data/*",
];

const ABSENT: &str = "\
The base of images is made by mmdebstrap (Debian: apt-get install mmdebstrap), as root or with user
namespaces.";

/// A base that is being made, while other things are done.
pub(crate) struct Base(Option<Child>);

impl Base {
    /// Begins to make it, unless an earlier run has made it for the tests.
    ///
    /// # Errors
    /// mmdebstrap is not there.
    pub(crate) fn begin_for_tests() -> Result<Self> {
        let of = fs::read_to_string(packages());
        if archive().is_file() && of.is_ok_and(|of| of == content()) {
            return Ok(Self(None));
        }
        Self::begin_with(PACKAGES)
    }

    /// Begins to make it anew: the same packages may have become newer.
    ///
    /// # Errors
    /// mmdebstrap is not there.
    pub(crate) fn begin() -> Result<Self> {
        Self::begin_with(&format!("{PACKAGES},{CPP_KIT}"))
    }

    fn begin_with(packages: &str) -> Result<Self> {
        fs::create_dir_all(folder())?;
        let path = log();
        let log = fs::File::create(&path)?;
        eprintln!(
            "mmdebstrap makes a base of Debian {SUITE}; its log: {}",
            path.display()
        );
        let mut made = command("mmdebstrap");
        made.args(["--variant=minbase", "--format=tar"])
            .arg(format!("--include={packages}"))
            .args(LEFT_OUT.map(|path| format!("--dpkgopt=path-exclude={path}")))
            .arg(SUITE)
            .arg(unfinished())
            .stdout(Stdio::null())
            .stderr(log);
        let child = made
            .spawn()
            .map_err(|error| format!("could not run mmdebstrap: {error}\n{ABSENT}"))?;
        Ok(Self(Some(child)))
    }

    /// Waits until it is made.
    ///
    /// # Errors
    /// It could not be made.
    pub(crate) fn finish(mut self) -> Result {
        let Some(mut child) = self.0.take() else {
            return Ok(());
        };
        let status = child.wait()?;
        if !status.success() {
            let said = fs::read_to_string(log()).unwrap_or_default();
            return Err(format!("mmdebstrap failed ({status})\n{said}{ABSENT}").into());
        }
        fs::rename(unfinished(), archive())?;
        fs::write(packages(), content())?;
        Ok(())
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // What it was made for has failed. So that it can tidy up, it is asked to end.
            let _ = command("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

/// Hands it to an engine.
///
/// # Errors
/// It is not made yet, or the engine does not take it.
pub(super) fn import(engine: Engine<'_>, registry: &str) -> Result {
    let archive = archive();
    if !archive.is_file() {
        let archive = archive.display();
        return Err(format!("{archive} is not there yet: run this without --prepared").into());
    }
    let mut docker = engine.docker();
    docker.args(["import", "--change=CMD [\"bash\"]"]);
    stream(docker.arg(archive).arg(format!("{registry}/base")))
}

fn archive() -> PathBuf {
    folder().join("base.tar")
}

fn unfinished() -> PathBuf {
    folder().join("base.unfinished.tar")
}

/// A text that says what an archive that is made now has in it, and what not.
fn content() -> String {
    format!("{PACKAGES}\nwithout {}\n", LEFT_OUT.join(" "))
}

/// The file that says what the archive was made of.
fn packages() -> PathBuf {
    folder().join("base.packages")
}

fn log() -> PathBuf {
    folder().join("base.log")
}
