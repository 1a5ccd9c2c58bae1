//! The Python kit as a wheel that carries the programs: `pip install` of it is all that somebody needs
//! who has Python. The kit by itself is a wheel for every machine, this one is for one architecture.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::{
    folder, pip,
    programs::{ARENA, Build, Program, SERVE},
    release::Papers,
};
use crate::{
    languages,
    shell::{Result, capture, command, root, stream},
};

/// The programs in it. They lie in one folder, since the first becomes the second to serve.
pub(super) const PROGRAMS: &[Program] = &[ARENA, SERVE];

/// The package that takes wheels apart and writes them, with the hash of each file.
const WHEEL: &str = "wheel==0.48.0";

/// Writes it into a folder and says where it is.
///
/// # Errors
/// pip or the package `wheel` fails.
pub(super) fn write(build: Build<'_>, papers: &Papers, epoch: u64, to: &Path) -> Result<PathBuf> {
    let python = languages::venv()?;
    let pip_install = "-m pip install --quiet --disable-pip-version-check";
    stream(command(&python).args(pip_install.split(' ')).arg(WHEEL))?;
    let work = folder().join("wheel");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work)?;
    let kit = pip::kit(&work, epoch)?;
    let wheel = |words: &[&str]| {
        let mut wheel = command(&python);
        wheel.args(["-m", "wheel"]).args(words);
        wheel.env("SOURCE_DATE_EPOCH", epoch.to_string());
        wheel
    };
    capture(wheel(&["unpack", "--dest"]).arg(&work).arg(&kit))?;
    let name = format!("bot_arena-{}", env!("CARGO_PKG_VERSION"));
    let unpacked = work.join(&name);
    add(&unpacked, &name, build, papers)?;
    set_modes(&unpacked)?;
    capture(wheel(&["pack", "--dest-dir"]).arg(to).arg(&unpacked))?;
    let tags = platforms(build).join(".");
    Ok(to.join(format!("{name}-py3-none-{tags}.whl")))
}

/// Adds what the kit has not to its files.
fn add(unpacked: &Path, name: &str, build: Build<'_>, papers: &Papers) -> Result {
    let programs = unpacked.join("bot_arena/_bin");
    fs::create_dir(&programs)?;
    for program in PROGRAMS {
        copy(&build.path(*program), &programs.join(program.name))?;
    }
    let scripts = unpacked.join(format!("{name}.data/scripts"));
    fs::create_dir_all(&scripts)?;
    copy(&root().join("deploy/release/arena"), &scripts.join("arena"))?;

    // Where PEP 639 and PEP 770 look for them.
    let info = unpacked.join(format!("{name}.dist-info"));
    let licences = info.join("licenses");
    fs::create_dir(&licences)?;
    copy(&root().join("LICENSE"), &licences.join("LICENSE"))?;
    let expression = "License-Expression: Apache-2.0\n";
    let mut named = format!("{expression}License-File: LICENSE\n");
    for (file, text) in &papers.licences {
        fs::write(licences.join(file), text)?;
        named += &format!("License-File: {file}\n");
    }
    let sboms = info.join("sboms");
    fs::create_dir(&sboms)?;
    fs::write(sboms.join("bot-arena.cdx.json"), &papers.sbom)?;

    replace(&info.join("METADATA"), expression, &named)?;
    let wheel = info.join("WHEEL");
    replace(&wheel, "Root-Is-Purelib: true", "Root-Is-Purelib: false")?;
    let tags = platforms(build).into_iter();
    let tags: String = tags.map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    replace(&wheel, "Tag: py3-none-any\n", &tags)
}

fn copy(from: &Path, to: &Path) -> Result {
    fs::copy(from, to).map_err(|error| format!("could not copy {}: {error}", from.display()))?;
    Ok(())
}

/// Replaces what a file of the kit's wheel must have.
fn replace(file: &Path, from: &str, to: &str) -> Result {
    let text = fs::read_to_string(file)?;
    if !text.contains(from) {
        return Err(format!("{} has no `{}`", file.display(), from.trim()).into());
    }
    fs::write(file, text.replacen(from, to, 1))?;
    Ok(())
}

/// The platforms that the programs run on, in the order of a wheel's name. Static programs run with any
/// C library; the names are the oldest that the kit's own dependencies have.
fn platforms(build: Build<'_>) -> Vec<String> {
    let names: &[&str] = match build.is_static() {
        true => &["manylinux_2_17", "musllinux_1_1"],
        // With the libraries of this machine.
        false => &["linux"],
    };
    let machine = build.arch.machine();
    let names = names.iter();
    names.map(|name| format!("{name}_{machine}")).collect()
}

/// Has everybody read the files below a folder, and run those that can be run, whatever this user's mask
/// is.
fn set_modes(folder: &Path) -> Result {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            set_modes(&entry.path())?;
            continue;
        }
        let runs = entry.metadata()?.permissions().mode() & 0o111 != 0;
        let mode = if runs { 0o755 } else { 0o644 };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{arch::Arch, programs::TESTS},
        *,
    };

    #[test]
    fn the_kit_has_the_version_of_the_programs() {
        let kit = fs::read_to_string(root().join("bots/python/pyproject.toml")).unwrap();
        let version = format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"));
        assert!(kit.contains(&version), "pyproject.toml has not {version}");
    }

    #[test]
    fn only_static_programs_are_for_other_machines() {
        let of = |profile, arch| platforms(Build { profile, arch }).join(".");
        assert_eq!(
            of("dist", Arch::Arm64),
            "manylinux_2_17_aarch64.musllinux_1_1_aarch64"
        );
        assert_eq!(of(TESTS, Arch::Amd64), "linux_x86_64");
    }
}
