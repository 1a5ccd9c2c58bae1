//! `cargo xtask release`: the static programs as an archive, and as a wheel with the Python kit; the
//! same bytes for the same commit.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    COST,
    arch::Arch,
    folder, licences, pip,
    programs::{ARENA, Build, Program, RELEASE},
    rootfs::Rootfs,
    sbom,
    source::Source,
    wheel,
};
use crate::shell::{Result, capture, cargo, command, root, stream, target_dir};

/// The file with the checksums of archives and wheels.
const SUMS: &str = "SHA256SUMS";
/// The page whose titles are all verbs: a test of `arena` compares them.
const VERBS: &str = "docs/cli.md";
/// The shells that complete words, and the names that they look for.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "arena.bash"),
    ("zsh", "_arena"),
    ("fish", "arena.fish"),
];

/// The files beside programs that say what is in them.
pub(super) struct Papers {
    /// A list of the packages.
    pub(super) sbom: String,
    /// Licences, by the names of files.
    pub(super) licences: Vec<(&'static str, String)>,
}

/// Builds the programs and packs them into target/release-archives.
///
/// # Errors
/// The words can't be understood, or something can't be built.
pub(crate) fn run(words: &[&str]) -> Result {
    let arch = match words {
        [] => Arch::host()?,
        ["--arch", arch] => Arch::read(arch)?,
        _ => return Err(format!("expected --arch ARCH, got `{}`", words.join(" ")).into()),
    };
    arch.check_tools()?;
    eprintln!("{COST}");
    let build = Build {
        profile: "dist",
        arch,
    };
    build.run(RELEASE)?;
    pack(build, &target_dir().join("release-archives"))?;
    Ok(())
}

/// Packs programs that are built already, with what the wheel needs to be installed.
///
/// # Errors
/// Something can't be packed.
pub(super) fn for_tests(build: Build<'_>) -> Result {
    let folder = folder().join("release");
    // Of an earlier version.
    let _ = fs::remove_dir_all(&folder);
    let wheel = pack(build, &folder)?;
    pip::download(&wheel, &folder.join("wheels"), build.arch)
}

/// Packs the programs into a folder and says where the wheel is.
fn pack(build: Build<'_>, folder: &Path) -> Result<PathBuf> {
    let source = Source::read()?;
    fs::create_dir_all(folder)?;
    archive(build, &source, folder)?;
    let papers = Papers::of(wheel::PROGRAMS, build, &source)?;
    let wheel = wheel::write(build, &papers, source.epoch, folder)?;
    write_sums(folder)?;
    eprintln!("{}", folder.display());
    Ok(wheel)
}

/// Packs the programs into an archive.
fn archive(build: Build<'_>, source: &Source, folder: &Path) -> Result {
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("bot-arena-{version}-linux-{}", build.arch.name());
    let inside = |path: &str| format!("{name}/{path}");
    let mut files = Rootfs::default();
    for program in RELEASE {
        files.file(&inside(program.name), &build.path(*program))?;
    }
    files.file(
        &inside("README.md"),
        &root().join("deploy/release/README.md"),
    )?;
    files.file(&inside("LICENSE"), &root().join("LICENSE"))?;
    let papers = Papers::of(RELEASE, build, source)?;
    files.text(&inside("sbom.cdx.json"), papers.sbom);
    for (licence, text) in papers.licences {
        files.text(&inside(&format!("licences/{licence}")), text);
    }
    let arena = arena_of_this_machine(build)?;
    for (shell, file) in SHELLS {
        let script = capture(command(&arena).args(["completions", shell]))?;
        files.text(&inside(&format!("completions/{file}")), script);
    }
    for verb in verbs(&fs::read_to_string(root().join(VERBS))?) {
        let page = capture(command(&arena).arg("man").args(verb.split_whitespace()))?;
        let file = format!("arena {verb}").trim().replace(' ', "-");
        files.text(&inside(&format!("man/man1/{file}.1")), page);
    }
    let archive = folder.join(format!("{name}.tar"));
    files.write(&archive, source.epoch)?;
    // Without the name and the time of the file.
    let mut gzip = command("gzip");
    gzip.args(["--no-name", "--force"]);
    // What tests unpack is packed anew in each run.
    if !build.is_static() {
        gzip.arg("--fast");
    }
    stream(gzip.arg(&archive))
}

impl Papers {
    /// Those of programs.
    fn of(programs: &[Program], build: Build<'_>, source: &Source) -> Result<Self> {
        let mut packages = BTreeSet::new();
        for program in programs {
            packages.extend(sbom::of_rust(*program, build.arch)?);
        }
        let licences = licences::of(&packages, build)?;
        packages.extend(sbom::of_libraries(&licences::libraries(build)?)?);
        Ok(Self {
            sbom: sbom::write("application", "bot-arena", &source.revision, &packages),
            licences,
        })
    }
}

/// An `arena` that runs here: it writes pages and scripts, which are the same everywhere.
fn arena_of_this_machine(build: Build<'_>) -> Result<PathBuf> {
    if build.arch == Arch::host()? {
        return Ok(build.path(ARENA));
    }
    stream(&mut cargo("build --locked --package arena --bin arena"))?;
    Ok(target_dir().join("debug/arena"))
}

/// The verbs of `arena` that this page has, such as `tournament run`, and nothing for `arena` itself.
fn verbs(page: &str) -> Vec<&str> {
    let titles = page
        .lines()
        .filter_map(|line| line.strip_prefix("### arena"));
    titles.map(str::trim).collect()
}

/// Writes the checksums of all archives and wheels in a folder.
fn write_sums(folder: &Path) -> Result {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        names.extend(
            name.to_str()
                .filter(|name| [".tar.gz", ".whl"].iter().any(|end| name.ends_with(end)))
                .map(str::to_owned),
        );
    }
    names.sort();
    let sums = capture(command("sha256sum").args(names).current_dir(folder))?;
    fs::write(folder.join(SUMS), sums)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_and_wheels_have_checksums_and_nothing_else_has() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.whl", "a.tar.gz", SUMS, "c.tar"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        write_sums(folder.path()).unwrap();
        let sums = fs::read_to_string(folder.path().join(SUMS)).unwrap();
        let x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!(sums, format!("{x}  a.tar.gz\n{x}  b.whl\n"));
    }

    #[test]
    fn every_verb_has_a_page() {
        let page = fs::read_to_string(root().join(VERBS)).unwrap();
        let verbs = verbs(&page);
        for verb in ["", "match", "tournament run", "serve"] {
            assert!(verbs.contains(&verb), "no {verb}: {verbs:?}");
        }
    }

    #[test]
    fn other_words_are_refused() {
        assert!(
            run(&["arm64"])
                .unwrap_err()
                .to_string()
                .contains("expected --arch")
        );
    }
}
