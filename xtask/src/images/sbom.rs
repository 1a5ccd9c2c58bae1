//! The list of the packages in an image, as CycloneDX JSON. It has what we put there, not what
//! is in the image below it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{arch::Arch, programs::Program};
use crate::shell::{Result, capture, cargo, command, root};

/// The path of the SBOM in every image.
pub(super) const PATH: &str = "usr/share/bot-arena/sbom.cdx.json";

/// A package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// As the package says it: an expression of SPDX, or nothing.
    pub(super) licence: String,
    /// Its package URL, `pkg:cargo/tokio@1.54.0`.
    pub(super) url: String,
    /// The SHA-256 or SHA-512 of what was downloaded, in hex.
    pub(super) hash: Option<(&'static str, String)>,
}

/// The list of the packages of what has this name: a `container` or an `application`.
pub(super) fn write(
    kind: &str,
    name: &str,
    revision: &str,
    packages: &BTreeSet<Package>,
) -> String {
    let components: Vec<Value> = packages.iter().map(component).collect();
    let version = env!("CARGO_PKG_VERSION");
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": kind,
                "name": name,
                "version": version,
                "properties": [{ "name": "revision", "value": revision }],
            },
        },
        "components": components,
    });
    format!("{list:#}\n")
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "name": package.name,
        "version": package.version,
        "bom-ref": package.url,
        "purl": package.url,
    });
    if !package.licence.is_empty() {
        component["licenses"] = json!([{ "expression": package.licence }]);
    }
    if let Some((algorithm, hash)) = &package.hash {
        component["hashes"] = json!([{ "alg": algorithm, "content": hash }]);
    }
    component
}

/// The packages with which a Rust program is linked.
///
/// # Errors
/// cargo fails.
pub(super) fn of_rust(program: Program, arch: Arch) -> Result<BTreeSet<Package>> {
    let edges = if program.is_example {
        "normal,dev"
    } else {
        "normal"
    };
    let packages = program.packages();
    let target = arch.target();
    let mut tree = cargo(&format!(
        "tree --locked {packages}--edges {edges},no-proc-macro --target {target} --prefix depth"
    ));
    let tree = capture(tree.args(["--format", "|{p}|{l}|"]))?;
    let checksums = checksums(&fs::read_to_string(root().join("Cargo.lock"))?);
    Ok(linked(&tree, program.package)
        .into_iter()
        .filter_map(|line| rust(line, &checksums))
        .collect())
}

/// The lines of a tree for a package and what it needs. A line is cargo's, `DEPTH|PACKAGE|LICENCE|`,
/// with ` (*)` at its end where what is below it has been shown before.
fn linked<'a>(tree: &'a str, package: &str) -> BTreeSet<&'a str> {
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut above: Vec<&str> = Vec::new();
    for line in tree.lines() {
        let Some((depth, line)) = line.split_once('|') else {
            continue;
        };
        let line = line.trim_end_matches(" (*)");
        above.truncate(depth.parse().unwrap_or(0));
        if let Some(parent) = above.last() {
            needs.entry(parent).or_default().insert(line);
        }
        needs.entry(line).or_default();
        above.push(line);
    }
    let is_asked = |line: &&str| line.split(' ').next() == Some(package);
    let mut left: Vec<&str> = needs.keys().copied().filter(is_asked).collect();
    let mut found = BTreeSet::new();
    while let Some(line) = left.pop() {
        if found.insert(line) {
            left.extend(&needs[line]);
        }
    }
    found
}

/// A line of cargo's, `NAME vVERSION (WHERE)|LICENCE|`.
fn rust(line: &str, checksums: &BTreeMap<(String, String), String>) -> Option<Package> {
    let mut parts = line.split('|');
    let mut words = parts.next()?.split_whitespace();
    let name = words.next()?.to_owned();
    let version = words.next()?.strip_prefix('v')?.to_owned();
    // As it was written before there were expressions.
    let licence = parts.next()?.replace(" / ", " OR ").replace('/', " OR ");
    let url = format!("pkg:cargo/{name}@{version}");
    let hash = checksums.get(&(name.clone(), version.clone()));
    let hash = hash.map(|hash| ("SHA-256", hash.clone()));
    Some(Package {
        name,
        version,
        licence,
        url,
        hash,
    })
}

/// Names and versions in a lock file with the checksums that it has of them.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let packages = lock.split("[[package]]");
    let checksums = packages.filter_map(|package| {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.trim_matches('"').to_owned())
        };
        let key = (value("name = ")?, value("version = ")?);
        Some((key, value("checksum = ")?))
    });
    checksums.collect()
}

/// Debian's packages that these libraries are of. Elsewhere: the libraries by themselves.
///
/// # Errors
/// dpkg is there and fails.
pub(super) fn of_libraries(libraries: &[PathBuf]) -> Result<BTreeSet<Package>> {
    libraries
        .iter()
        .map(|library| of_library(library))
        .collect()
}

fn of_library(library: &Path) -> Result<Package> {
    let file = library
        .file_name()
        .unwrap_or_default()
        .display()
        .to_string();
    let Some(package) = owner(library) else {
        return Ok(Package {
            url: format!("pkg:generic/{file}"),
            name: file,
            version: String::new(),
            licence: String::new(),
            hash: None,
        });
    };
    let format = "--showformat=${Package} ${Version} ${Architecture}";
    let shown = capture(command("dpkg-query").args(["--show", format, &package]))?;
    let [name, version, architecture] = shown.split(' ').collect::<Vec<_>>()[..] else {
        return Err(format!("dpkg-query: expected three words, got `{shown}`").into());
    };
    let escaped = name.replace('+', "%2B");
    Ok(Package {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: String::new(),
        url: format!(
            "pkg:deb/debian/{escaped}@{}?arch={architecture}",
            version.replace('+', "%2B").replace(':', "%3A")
        ),
        hash: None,
    })
}

/// The package of a library. It may have been installed as `/lib` or as `/usr/lib`, one of
/// which is a link, and its own name may be a link too.
pub(super) fn owner(library: &Path) -> Option<String> {
    let real = library.canonicalize().ok()?;
    let real = real.display().to_string();
    let names = [
        real.strip_prefix("/usr").map(str::to_owned),
        Some(real.clone()),
    ];
    names.into_iter().flatten().find_map(|name| {
        let said = capture(command("dpkg-query").args(["--search", &name])).ok()?;
        let (package, _) = said.lines().next()?.split_once(": ")?;
        Some(package.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{super::programs::BOT, *};

    #[test]
    fn a_line_of_the_tree_is_a_package() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\nchecksum = \"00ff\"\n\n\
            [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n \"a-b\",\n]\n";
        let checksums = checksums(lock);
        let package = rust("a-b v1.2.3|MIT/Apache-2.0| (*)", &checksums).unwrap();
        assert_eq!(package.url, "pkg:cargo/a-b@1.2.3");
        assert_eq!(package.licence, "MIT OR Apache-2.0");
        assert_eq!(package.hash, Some(("SHA-256", "00ff".to_owned())));
        let ours = rust("ours v0.1.0 (/somewhere)|Apache-2.0|", &checksums).unwrap();
        assert_eq!((ours.version.as_str(), ours.hash), ("0.1.0", None));
        assert_eq!(rust("", &checksums), None);
    }

    #[test]
    fn a_package_has_what_is_shown_below_another_one() {
        let tree = "0|a v1 (/a)|L|\n1|b v1|L|\n2|c v1|L|\n1|d v1|L|\n\n0|e v1|L|\n1|b v1|L| (*)\n";
        let found: Vec<_> = linked(tree, "e").into_iter().collect();
        assert_eq!(found, ["b v1|L|", "c v1|L|", "e v1|L|"]);
        assert_eq!(linked(tree, "a").len(), 4);
    }

    #[test]
    fn a_program_has_what_it_is_linked_with_and_nothing_else() {
        let packages = of_rust(BOT, Arch::host().unwrap()).unwrap();
        let has = |name: &str| packages.iter().any(|package| package.name == name);
        assert!(
            has("tonic") && has("clap") && has("bot-kit"),
            "{packages:?}"
        );
        // What only its build needs, what only its tests need, a procedural macro, what only a
        // program needs that is built together with it.
        assert!(!has("tonic-prost-build") && !has("tempfile") && !has("clap_derive"));
        assert!(!has("kube-client") && !has("sqlx"));
        let list = write("container", "bot", "abc", &packages);
        let list: Value = serde_json::from_str(&list).unwrap();
        assert_eq!(list["components"].as_array().unwrap().len(), packages.len());
    }
}
