//! What both sets of tests build with: a sandbox, the kits, archives.

#![allow(dead_code, reason = "each set of tests uses a part of it")]

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{LazyLock, atomic::AtomicBool},
    time::Duration,
};

use arena_build::{
    BuildError, BuildFault, BuildLimits, Built, FaultKind, Sources, Toolchain, build,
};
use flate2::{Compression, write::GzEncoder};
use referee_sandbox::{Outer, Reexec, Sandbox, SandboxMode};
use tar::{Builder, EntryType, Header};
use zip::{ZipWriter, write::SimpleFileOptions};

/// The program that enters sandboxes: the example of this crate.
fn reexec() -> Reexec {
    let tests = env::current_exe().unwrap();
    let folder = tests.parent().and_then(Path::parent).unwrap();
    let program = folder.join("examples/enter");
    assert!(
        program.exists(),
        "{} is not built: cargo build -p arena-build --examples",
        program.display()
    );
    let verb = Vec::new();
    Reexec { program, verb }
}

/// The walls of this kind of namespaces alone.
pub(crate) fn sandbox_of(kind: Outer) -> Sandbox {
    Sandbox::probe_kind(kind, reexec()).unwrap()
}

/// All walls: `cargo xtask test` sees to what they need.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: LazyLock<Sandbox> =
        LazyLock::new(|| Sandbox::probe(SandboxMode::Require, reexec()).unwrap());
    &SANDBOX
}

/// No walls, to show what they are for.
pub(crate) fn no_sandbox() -> Sandbox {
    Sandbox::probe(SandboxMode::Off, reexec()).unwrap()
}

pub(crate) fn checkout() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The programs of the system, without kits.
pub(crate) fn system() -> Toolchain {
    Toolchain::of_system()
}

/// The kits, which `cargo xtask test` builds.
pub(crate) fn kits() -> Toolchain {
    let languages = env::var_os("ARENA_TEST_LANGUAGES").expect(
        "ARENA_TEST_LANGUAGES names the folder where the kits were built; run \
         `cargo xtask test`, or leave these tests out with `--skip kits::`",
    );
    Toolchain::of_checkout(checkout(), &PathBuf::from(languages))
}

/// Limits that are enough for what is small, and soon reached by what is not.
pub(crate) fn tight() -> BuildLimits {
    BuildLimits {
        time: Duration::from_secs(60),
        memory: 256 << 20,
        output: 16 << 20,
        output_files: 2000,
        processes: 64,
        ..BuildLimits::default()
    }
}

/// A tar.gz with these files.
pub(crate) fn tar_gz(files: &[(&str, &str)]) -> Vec<u8> {
    let gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut builder = Builder::new(gzip);
    for (path, text) in files {
        let header = &mut header(EntryType::Regular, text.len() as u64);
        builder.append_data(header, path, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

pub(crate) fn header(kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header
}

/// A zip with these files.
pub(crate) fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, text) in files {
        zip.start_file(*path, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Builds these files for Connect Four behind all walls.
pub(crate) fn build_files(
    files: &[(&str, &str)],
    toolchain: &Toolchain,
    limits: &BuildLimits,
) -> Result<Built, BuildError> {
    build_in(sandbox(), files, "connect_four", toolchain, limits)
}

pub(crate) fn build_in(
    sandbox: &Sandbox,
    files: &[(&str, &str)],
    game: &str,
    toolchain: &Toolchain,
    limits: &BuildLimits,
) -> Result<Built, BuildError> {
    let sources = Sources::read("entry.tar.gz", &tar_gz(files), limits)?;
    let cancel = AtomicBool::new(false);
    build(&sources, game, toolchain, sandbox, limits, &cancel)
}

/// The fault of a build, which must be of this kind and name this, in its words or its log.
pub(crate) fn fault(built: Result<Built, BuildError>, kind: FaultKind, named: &str) -> BuildFault {
    match built {
        Err(BuildError::Fault(fault)) => {
            eprintln!("{fault}\n{}", fault.log);
            assert_eq!(fault.kind, kind, "{fault}\n{}", fault.log);
            let all = format!("{fault}\n{}", fault.log);
            assert!(all.contains(named), "{all} does not name {named}");
            fault
        }
        Err(other) => panic!("{other}"),
        Ok(built) => panic!("it was built: {}\n{}", built.spec, built.log),
    }
}

/// Settings that build by a command.
pub(crate) fn by_command(command: &str) -> String {
    format!("build = '''{command}'''\nrun = \"./bot\"\n")
}
