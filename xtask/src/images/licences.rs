//! The licences of what the programs of a release are made of: crates, Rust's standard library, the C
//! library.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    arch::Arch,
    programs::Build,
    sbom::{self, Package},
};
use crate::shell::{Result, capture, cargo, command};

/// The beginnings of the names of files that have a licence.
const NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];
/// The ends of the names of files that have not.
const CODE: [&str; 8] = ["c", "h", "js", "json", "py", "rs", "sh", "toml"];

const BEGIN: &str = "\
The crates of https://crates.io that the programs are made of, and their licences, as each crate names
them. The texts below are those in the crates' packages, also of code of others that is in them.
";

/// The licences of programs with these packages, as the names of files with their texts.
///
/// # Errors
/// cargo fails, or a file can't be read.
pub(super) fn of(
    packages: &BTreeSet<Package>,
    build: Build<'_>,
) -> Result<Vec<(&'static str, String)>> {
    let mut files = vec![("crates.txt", crates(packages, &folders(build.arch)?)?)];
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))?;
    let notices = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    let text = fs::read_to_string(&notices)
        .map_err(|error| format!("could not read {}: {error}", notices.display()))?;
    files.push(("rust-standard-library.html", text));
    for library in libraries(build)? {
        if let Some(owner) = sbom::owner(&library) {
            let package = owner.split(':').next().unwrap_or_default();
            let text = fs::read_to_string(format!("/usr/share/doc/{package}/copyright"))
                .map_err(|error| format!("could not read the licence of {package}: {error}"))?;
            files.push(("c-library.txt", text));
        }
    }
    Ok(files)
}

/// The libraries of this machine that are in programs: the C library, where they are static.
///
/// # Errors
/// The compiler does not say where it is.
pub(super) fn libraries(build: Build<'_>) -> Result<Vec<PathBuf>> {
    if !build.is_static() {
        return Ok(Vec::new());
    }
    let cc = match build.arch == Arch::host()? {
        true => "cc".to_owned(),
        false => build.arch.cc(),
    };
    let said = capture(command(cc).arg("-print-file-name=libc.a"))?;
    Ok(vec![PathBuf::from(said.trim())])
}

/// The folders of all crates of crates.io, by name and version.
fn folders(arch: Arch) -> Result<BTreeMap<(String, String), PathBuf>> {
    let mut metadata = cargo("metadata --locked --format-version 1 --filter-platform");
    let metadata = capture(metadata.arg(arch.target()))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array();
    let packages = packages.ok_or("cargo metadata: no packages")?.iter();
    Ok(packages
        .filter(|package| !package["source"].is_null())
        .filter_map(|package| {
            let text = |key: &str| Some(package[key].as_str()?.to_owned());
            let manifest = PathBuf::from(text("manifest_path")?);
            Some(((text("name")?, text("version")?), manifest.parent()?.into()))
        })
        .collect())
}

/// One text of all licences: a line for each crate, then each text once, with the files that it is in.
fn crates(
    packages: &BTreeSet<Package>,
    folders: &BTreeMap<(String, String), PathBuf>,
) -> Result<String> {
    let mut list = BEGIN.to_owned();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let key = (package.name.clone(), package.version.clone());
        // Our own are under the licence of the whole.
        let Some(folder) = folders.get(&key) else {
            continue;
        };
        let name = format!("{} {}", package.name, package.version);
        let mut files = Vec::new();
        find(folder, Path::new(""), &mut files)?;
        let note = match files.is_empty() {
            true => " (its package has no text)",
            false => "",
        };
        list += &format!("\n{name}: {}{note}", package.licence);
        for file in files {
            let text = fs::read(folder.join(&file))?;
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            let at = format!("{name}, {}", file.display());
            texts.entry(text.trim().to_owned()).or_default().insert(at);
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|one, other| one.1.cmp(&other.1));
    let line = "=".repeat(72);
    for (text, files) in texts {
        let files = Vec::from_iter(files).join("\n");
        list += &format!("\n\n{line}\n{files}\n{line}\n\n{text}");
    }
    Ok(list + "\n")
}

/// Adds the files below a folder that have a licence, by their paths in it.
fn find(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) -> Result {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            find(folder, &path, found)?;
        } else if has_licence(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

/// True if a file of this name has a licence.
fn has_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = path.extension().unwrap_or_default().to_string_lossy();
    let name = name.to_uppercase();
    NAMES.iter().any(|begin| name.starts_with(begin)) && !CODE.contains(&&*end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            url: String::new(),
            hash: None,
        }
    }

    #[test]
    fn a_text_is_there_once_with_all_that_it_is_for() {
        let root = tempfile::tempdir().unwrap();
        let mut folders = BTreeMap::new();
        for (name, files) in [
            (
                "one",
                &[("LICENSE", "as is\r\n"), ("c/COPYING", "in C")][..],
            ),
            ("other", &[("license.md", "as is"), ("LICENSE.rs", "code")]),
            ("third", &[("README", "no licence")]),
        ] {
            let folder = root.path().join(name);
            fs::create_dir_all(folder.join("c")).unwrap();
            for (file, text) in files {
                fs::write(folder.join(file), text).unwrap();
            }
            folders.insert((name.to_owned(), "1.0.0".to_owned()), folder);
        }
        let packages = ["one", "other", "ours", "third"].map(package).into();
        let text = crates(&packages, &folders).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
        let line = &"=".repeat(72)[..];
        let expected = [
            &["one 1.0.0: MIT", "other 1.0.0: MIT"][..],
            &["third 1.0.0: MIT (its package has no text)", line],
            &[
                "one 1.0.0, LICENSE",
                "other 1.0.0, license.md",
                line,
                "as is",
                line,
            ],
            &["one 1.0.0, c/COPYING", line, "in C"],
        ];
        assert_eq!(lines[2..], expected.concat());
    }
}
