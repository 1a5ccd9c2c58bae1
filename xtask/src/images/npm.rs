//! The packages that the sample in JavaScript needs, by its lock file.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::sbom::Package;
use crate::shell::{Result, root};

/// The folder of the sample.
pub(super) fn sample() -> PathBuf {
    root().join("bots/typescript/samples")
}

/// True if a file is needed when the program runs.
pub(super) fn is_needed(path: &str) -> bool {
    let types = ["/@types", "/undici-types", "/.bin", "/.package-lock.json"];
    let endings = [".d.ts", ".d.mts", ".d.cts", ".map", ".md", ".flow"];
    !types.iter().chain(&endings).any(|end| path.ends_with(end))
}

/// The packages of the lock file.
///
/// # Errors
/// It can't be read.
pub(super) fn packages() -> Result<BTreeSet<Package>> {
    read(&sample().join("package-lock.json"))
}

fn read(lock: &Path) -> Result<BTreeSet<Package>> {
    let lock: Value = serde_json::from_str(&fs::read_to_string(lock)?)?;
    let packages = lock["packages"]
        .as_object()
        .ok_or("package-lock.json: no packages")?;
    let packages = packages.iter().filter_map(|(path, package)| {
        let (_, name) = path.rsplit_once("node_modules/")?;
        if !is_needed(path) {
            return None;
        }
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let version = text("version");
        let hash = text("integrity");
        let hash = BASE64_STANDARD.decode(hash.strip_prefix("sha512-")?).ok()?;
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Package {
            url: format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
            name: name.to_owned(),
            version,
            licence: text("license"),
            hash: Some(("SHA-512", hash)),
        })
    });
    Ok(packages.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_of_the_lock_file_has_a_licence_and_a_hash() {
        let packages = packages().unwrap();
        let names: Vec<_> = packages
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        assert!(names.contains(&"@grpc/grpc-js"), "{names:?}");
        assert!(!names.contains(&"undici-types"), "{names:?}");
        for package in &packages {
            assert!(!package.licence.is_empty(), "{package:?}");
            assert_eq!(package.hash.as_ref().unwrap().1.len(), 128, "{package:?}");
        }
    }
}
