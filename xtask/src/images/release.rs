//! `cargo xtask release`: the static programs as an archive, the same bytes for the same commit.

use std::{collections::BTreeSet, fs};

use super::{
    COST,
    arch::Arch,
    programs::{Build, RELEASE},
    rootfs::Rootfs,
    sbom,
    source::Source,
};
use crate::shell::{Result, capture, command, root, stream, target_dir};

/// The file with the checksums of archives.
const SUMS: &str = "SHA256SUMS";

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
    let source = Source::read()?;
    eprintln!("{COST}");
    let build = Build {
        profile: "dist",
        arch,
    };
    build.run(RELEASE)?;
    let name = format!(
        "bot-arena-{}-linux-{}",
        env!("CARGO_PKG_VERSION"),
        arch.name()
    );
    let mut files = Rootfs::default();
    let mut packages = BTreeSet::new();
    for program in RELEASE {
        files.file(&format!("{name}/{}", program.name), &build.path(*program))?;
        packages.extend(sbom::of_rust(*program, arch)?);
    }
    files.file(&format!("{name}/LICENSE"), &root().join("LICENSE"))?;
    let list = sbom::write("application", "bot-arena", &source.revision, &packages);
    files.text(&format!("{name}/sbom.cdx.json"), list);
    let folder = target_dir().join("release-archives");
    fs::create_dir_all(&folder)?;
    let archive = folder.join(format!("{name}.tar"));
    files.write(&archive, source.epoch)?;
    // Without the name and the time of the file.
    stream(
        command("gzip")
            .args(["--no-name", "--force", "-9"])
            .arg(&archive),
    )?;
    write_sums(&folder)?;
    eprintln!("{}", folder.display());
    Ok(())
}

/// Writes the checksums of all archives in a folder.
fn write_sums(folder: &std::path::Path) -> Result {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        names.extend(
            name.to_str()
                .filter(|name| name.ends_with(".tar.gz"))
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
    fn archives_have_checksums_and_nothing_else_has() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.tar.gz", "a.tar.gz", SUMS, "c.tar"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        write_sums(folder.path()).unwrap();
        let sums = fs::read_to_string(folder.path().join(SUMS)).unwrap();
        let x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        assert_eq!(sums, format!("{x}  a.tar.gz\n{x}  b.tar.gz\n"));
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
