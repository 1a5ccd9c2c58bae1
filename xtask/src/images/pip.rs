//! The Python kit and what it needs, as pip installs it by the kit's constraints.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use super::{arch::Arch, folder, sbom::Package};
use crate::{
    languages::{self, CONSTRAINTS},
    shell::{Result, capture, command, root, stream},
};

/// The Python of the image, which need not be that of this machine. Debian 12 has it.
const VERSION: &str = "3.11";
/// The names that wheels have for the C libraries of that Python.
const PLATFORMS: [&str; 3] = ["manylinux2014", "manylinux_2_17", "manylinux_2_28"];
/// The folder of the kit.
const KIT: &str = "bots/python";
/// The folder of the packages in the image.
pub(super) const PATH: &str = "opt/bot/site-packages";

/// The pip that installs where there is none: it runs from its wheel.
const PIP: &str = "pip==26.1.2";

/// Installs the kit and its dependencies and says where their folder is.
///
/// # Errors
/// pip fails.
pub(super) fn install(epoch: u64, arch: Arch) -> Result<PathBuf> {
    /// Images of one architecture are made in one run.
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    if let Some(site) = INSTALLED.get() {
        return Ok(site.clone());
    }
    let python = languages::venv()?;
    let folder = folder().join("pip");
    let _ = fs::remove_dir_all(&folder);
    let site = folder.join("site-packages");
    let kit = kit(&folder, epoch)?;
    let mut install = pip(&python);
    install.args(["install", "--no-compile"]);
    for_image(&mut install, arch);
    stream(install.arg("--target").arg(&site).arg(kit))?;
    compile(&python, &site)?;
    Ok(INSTALLED.get_or_init(|| site).clone())
}

/// Builds the kit as a wheel in a folder and says where it is.
///
/// # Errors
/// pip fails.
pub(super) fn kit(folder: &Path, epoch: u64) -> Result<PathBuf> {
    // It may have modules that the kit has no more.
    let _ = fs::remove_dir_all(root().join(KIT).join("build"));
    stream(
        pip(&languages::venv()?)
            .args(["wheel", "--no-deps", ".", "--wheel-dir"])
            .arg(folder)
            .env("SOURCE_DATE_EPOCH", epoch.to_string()),
    )?;
    wheel(folder)
}

/// Downloads what this wheel needs to be installed where nothing but Python is, with pip.
///
/// # Errors
/// pip fails.
pub(super) fn download(wheel: &Path, to: &Path, arch: Arch) -> Result {
    let mut download = pip(&languages::venv()?);
    download.arg("download");
    for_image(&mut download, arch);
    // The wheel's own, of programs with this machine's libraries.
    download.arg(format!("--platform=linux_{}", arch.machine()));
    download.arg("--dest").arg(to).arg(wheel).arg(PIP);
    stream(&mut download)?;
    // pip copies the wheel too.
    fs::remove_file(to.join(wheel.file_name().unwrap_or_default()))?;
    Ok(())
}

/// The pip of this Python, for the kit with the versions that it is tested with.
fn pip(python: &Path) -> Command {
    let mut pip = command(python);
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"])
        .current_dir(root().join(KIT))
        .env("PIP_CONSTRAINT", CONSTRAINTS)
        .env("PIP_BUILD_CONSTRAINT", CONSTRAINTS);
    pip
}

/// Has pip take what the Python of the image can use.
fn for_image(pip: &mut Command, arch: Arch) {
    pip.arg("--only-binary=:all:")
        .args(["--implementation=cp", "--python-version", VERSION]);
    for platform in PLATFORMS {
        pip.arg(format!("--platform={platform}_{}", arch.machine()));
    }
}

/// True if a file is needed when the program runs, and the same each time.
pub(super) fn is_needed(path: &str) -> bool {
    let names = [
        "/bin",
        "/RECORD",
        "/direct_url.json",
        "/REQUESTED",
        "/INSTALLER",
    ];
    let endings = [".pyi", ".pyx", ".pxd", ".pxi"];
    path != format!("{PATH}{}", names[0])
        && !names[1..]
            .iter()
            .chain(&endings)
            .any(|end| path.ends_with(end))
}

/// The packages that are installed there.
///
/// # Errors
/// The folder can't be read.
pub(super) fn packages(site: &Path) -> Result<BTreeSet<Package>> {
    let mut packages = BTreeSet::new();
    for entry in fs::read_dir(site)? {
        let metadata = entry?.path().join("METADATA");
        if metadata.is_file() {
            packages.extend(package(&fs::read_to_string(metadata)?));
        }
    }
    Ok(packages)
}

/// The package that its metadata describe.
fn package(metadata: &str) -> Option<Package> {
    let value = |key: &str| metadata.lines().find_map(|line| line.strip_prefix(key));
    let name = value("Name: ")?.to_owned();
    let version = value("Version: ")?.to_owned();
    // Before there were expressions it was any text, often of one line.
    let licence = value("License-Expression: ").unwrap_or_else(|| match value("License: ") {
        Some("Apache License 2.0") => "Apache-2.0",
        Some("3-Clause BSD License") => "BSD-3-Clause",
        _ => "",
    });
    Some(Package {
        url: format!(
            "pkg:pypi/{}@{version}",
            name.to_lowercase().replace('_', "-")
        ),
        licence: licence.to_owned(),
        name,
        version,
        hash: None,
    })
}

/// The wheel in a folder.
fn wheel(folder: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut wheels = files.filter(|path| path.extension().is_some_and(|end| end == "whl"));
    wheels
        .next()
        .ok_or_else(|| "pip wheel wrote no wheel".into())
}

/// Compiles the modules, so that a bot on a read-only root starts in a third of the time. Only
/// the Python of the image can do that; with another one they are left as they are.
fn compile(python: &Path, site: &Path) -> Result {
    let version =
        capture(command(python).args(["-c", "import platform; print(platform.python_version())"]))?;
    if !version.starts_with(&format!("{VERSION}.")) {
        eprintln!(
            "this is Python {}: the modules are not compiled for {VERSION}",
            version.trim()
        );
        return Ok(());
    }
    // By the hash of their source: times are not kept. Names are those in the image.
    stream(
        command(python)
            .args([
                "-m",
                "compileall",
                "-q",
                "--invalidation-mode",
                "unchecked-hash",
            ])
            .args(["-p", &format!("/{PATH}"), "-s"])
            .arg(site)
            .arg(site)
            // The order of sets is in them.
            .env("PYTHONHASHSEED", "0"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_what_its_metadata_says() {
        let found = package("Metadata-Version: 2.4\nName: typing_extensions\nVersion: 4.16.0\n");
        assert_eq!(found.unwrap().url, "pkg:pypi/typing-extensions@4.16.0");
        let found = package("Name: grpcio\nVersion: 1\nLicense: Apache License 2.0\n").unwrap();
        assert_eq!(found.licence, "Apache-2.0");
        assert_eq!(package("Summary: nothing\n"), None);
    }

    #[test]
    fn what_differs_each_time_is_left_out() {
        assert!(is_needed("opt/bot/site-packages/grpc/__init__.py"));
        assert!(is_needed("opt/bot/site-packages/grpc/bin/x.py"));
        assert!(!is_needed("opt/bot/site-packages/bin"));
        assert!(!is_needed(
            "opt/bot/site-packages/a.dist-info/direct_url.json"
        ));
    }
}
