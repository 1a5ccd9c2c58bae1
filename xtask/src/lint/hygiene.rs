//! The repository is fit to be cloned by anybody: nothing in it names one
//! machine or one house's package registry, the lock file is there, and every
//! crate obeys the workspace's lints.

use std::{
    fs,
    io::ErrorKind::{IsADirectory, NotFound},
    path::PathBuf,
};

use crate::shell::{Result, capture, command, git_files, members, root};

/// Looks through everything that git tracks or would track.
///
/// # Errors
/// The findings, one a line.
pub(super) fn check() -> Result {
    let mut found = Vec::new();
    if capture(command("git").args(["ls-files", "--", "Cargo.lock"]))?.is_empty() {
        found.push("Cargo.lock is not committed".to_owned());
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
    for manifest in manifests()? {
        let text = fs::read_to_string(&manifest)?;
        let manifest = manifest.strip_prefix(root()).unwrap_or(&manifest);
        let manifest = manifest.display();
        if MAY_BE_UNSAFE.contains(&&*manifest.to_string()) {
            if copied_lints(&text) != but_for_unsafe(&workspace) {
                found.push(format!(
                    "{manifest}: its lints are not those of the workspace with `unsafe_code = \"deny\"`"
                ));
            }
        } else if !inherits_lints(&text) {
            found.push(format!("{manifest}: no `[lints] workspace = true`"));
        }
    }
    for file in git_files(".")? {
        let text = match fs::read(root().join(&file)) {
            Ok(text) => text,
            // A file that was deleted and that git still lists, or a nested checkout.
            Err(error) if matches!(error.kind(), NotFound | IsADirectory) => continue,
            Err(error) => return Err(format!("could not read {file}: {error}").into()),
        };
        if text.contains(&0) {
            continue;
        }
        for (number, line) in String::from_utf8_lossy(&text).lines().enumerate() {
            for finding in findings(line) {
                found.push(format!("{file}:{}: {finding}", number + 1));
            }
        }
    }
    super::all_clear("findings", &found)
}

/// The manifest of every member of the workspace.
fn manifests() -> Result<Vec<PathBuf>> {
    let listed = members()?;
    Ok(listed
        .lines()
        .filter_map(member_dir)
        .map(|dir| PathBuf::from(dir).join("Cargo.toml"))
        .collect())
}

/// The directory in a line "name vVERSION (DIRECTORY)".
fn member_dir(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" (/")?;
    let start = line.len() - rest.len() - 1;
    line[start..].split(')').next()
}

/// The crates that may say where they need unsafe code: what loads a shared object
/// can't do without. They copy the workspace's lints, since one that is inherited
/// can't be loosened.
const MAY_BE_UNSAFE: &[&str] = &["bots/adapters/strategy/Cargo.toml", "bots/edge/Cargo.toml"];

/// The lints that a manifest has of its own, a line each with their table.
fn copied_lints(manifest: &str) -> Vec<String> {
    lints(manifest, "[lints.")
}

/// The workspace's lints as one of [`MAY_BE_UNSAFE`] must copy them.
fn but_for_unsafe(workspace: &str) -> Vec<String> {
    let lints = lints(workspace, "[workspace.lints.").into_iter();
    lints
        .map(|lint| lint.replace("unsafe_code = \"forbid\"", "unsafe_code = \"deny\""))
        .collect()
}

/// The lines of the tables that begin so, each after the rest of its table's name.
fn lints(manifest: &str, begins: &str) -> Vec<String> {
    let mut table = None;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line.strip_prefix(begins);
        } else if let Some(table) = table
            && !line.is_empty()
            && !line.starts_with('#')
        {
            found.push(format!("{table} {line}"));
        }
    }
    found
}

/// True if a manifest says `[lints] workspace = true`.
fn inherits_lints(manifest: &str) -> bool {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.split_whitespace().collect::<String>() == "workspace=true")
}

/// The faults of a line of any file.
fn findings(line: &str) -> Vec<String> {
    let home = home_path(line).map(|path| format!("a path in somebody's home: {path}"));
    let registry = private_registry(line).map(|host| format!("a package registry's host: {host}"));
    home.into_iter().chain(registry).collect()
}

/// An absolute path below a home directory: root's, or a named user's.
fn home_path(line: &str) -> Option<&str> {
    line.match_indices('/').find_map(|(start, _)| {
        // A path goes on here, it does not begin: `a/home/b`, `$X/home/me/b`.
        let goes_on = |c: char| c.is_alphanumeric() || "_-.~})>*]".contains(c);
        if line[..start].ends_with(goes_on) {
            return None;
        }
        let path = line[start..]
            .split(|c: char| !(c.is_alphanumeric() || "/_-.+@".contains(c)))
            .next()?;
        let mut parts = path.split('/').skip(1);
        let depth = match parts.next()? {
            "root" => 2,
            "home" | "Users" if !parts.next()?.is_empty() => 3,
            _ => return None,
        };
        // There must be a slash after the home itself.
        (path.matches('/').count() >= depth).then_some(path)
    })
}

/// The hosts from which packages come that anybody can reach.
const PUBLIC_HOSTS: &[&str] = &[
    "crates.io",
    "static.crates.io",
    "index.crates.io",
    "github.com",
    "pypi.org",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "proxy.golang.org",
    "repo.maven.apache.org",
    "registry.k8s.io",
];

/// Names that are reserved for documentation.
const EXAMPLES: [&str; 3] = ["example.com", "example.org", "example.net"];
/// Parts of the names of registries' hosts.
#[rustfmt::skip]
const REGISTRIES: [&str; 7] = ["registry", "artifactory", "nexus", "mirror", "devpi", "pypi", "verdaccio"];
/// Parts of a line that sets where packages come from.
#[rustfmt::skip]
const SETTINGS: [&str; 7] =
    ["index-url", "index_url", "find-links", "goproxy", "registry=", "registry =", "\"resolved\""];

/// The host of a URL from which packages are fetched, where it is not a public
/// one; lock files and settings of package managers love to keep it.
fn private_registry(line: &str) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let setting = SETTINGS.iter().any(|key| lower.contains(key));
    line.match_indices("://").find_map(|(colon, mark)| {
        let scheme = line[..colon]
            .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '+'))
            .next()?;
        if !scheme.ends_with("http") && !scheme.ends_with("https") {
            return None;
        }
        let url = line[colon + mark.len()..]
            .split(|c: char| c.is_whitespace() || "\"'`<>()[]{},;|".contains(c))
            .next()?;
        let (authority, path) = url.split_once('/').unwrap_or((url, ""));
        let (login, address) = authority.rsplit_once('@').unwrap_or(("", authority));
        let host = address.split(':').next()?;
        if host.is_empty() {
            return None;
        }
        let name = host.to_ascii_lowercase();
        let public = PUBLIC_HOSTS.contains(&name.as_str());
        let example = EXAMPLES.iter().any(|domain| name.ends_with(domain));
        let fetches = setting
            || scheme.contains('+')
            || REGISTRIES.iter().any(|word| name.contains(word))
            || format!("/{path}/").contains("/simple/")
            || path.contains("artifactory/");
        (login.contains(':') || (fetches && !public && !example)).then_some(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // This file is looked through as well, so what must be found is put
    // together here: `~` stands for a slash.
    fn line(text: &str) -> String {
        text.replace('~', "/")
    }

    #[test]
    fn paths_in_a_home_are_found() {
        for text in [
            "see ~root~notes.md",
            "\"~home~alice~arena\"",
            "PATH=~home~a.b-c~bin:~bin",
            "cd:~Users~Alice~arena",
            "file:~~~home~alice~x",
            "(~root~.cargo~bin)",
            "~root~",
        ] {
            assert!(home_path(&line(text)).is_some(), "missed: {text}");
        }
    }

    #[test]
    fn other_paths_are_left_alone() {
        for text in [
            "~rootless~x",
            "https:~~a.org~home~alice~x",
            "src~root~mod.rs",
            "the tree's ~root, or ~home alone",
            "~home~$USER~x",
            "~home~<user>~x",
            "$HOME~root~x",
            "${TOP}~root~x",
            "~usr~home~alice~x",
            "~homes~alice~x",
            "~home~alice",
        ] {
            assert_eq!(home_path(&line(text)), None, "false alarm: {text}");
        }
    }

    #[test]
    fn a_finding_names_the_path_and_nothing_around_it() {
        let text = line("\"~home~alice~arena\", 7");
        assert_eq!(home_path(&text), Some(line("~home~alice~arena").as_str()));
    }

    #[test]
    fn private_registries_are_found() {
        for (text, host) in [
            (
                "source = \"registry+https:~~cargo.corp.net~index\"",
                "cargo.corp.net",
            ),
            (
                "index = \"sparse+http:~~10.0.0.7:8080~crates~\"",
                "10.0.0.7",
            ),
            (
                "--index-url https:~~packages.corp.net~py",
                "packages.corp.net",
            ),
            (
                "\"resolved\": \"http:~~npm.corp.net~a.tgz\"",
                "npm.corp.net",
            ),
            ("see https:~~artifactory.corp.net", "artifactory.corp.net"),
            ("pip -i http:~~corp.net~pypi~simple", "corp.net"),
            ("GOPROXY=https:~~go.corp.net,direct", "go.corp.net"),
            ("git clone https:~~me:secret@github.com~a~b", "github.com"),
            (
                "https:~~doc.rs and https:~~mirror.corp.net",
                "mirror.corp.net",
            ),
        ] {
            assert_eq!(private_registry(&line(text)), Some(host), "{text}");
        }
    }

    #[test]
    fn public_registries_and_other_addresses_are_left_alone() {
        for text in [
            "source = \"registry+https:~~github.com~rust-lang~crates.io-index\"",
            "\"resolved\": \"https:~~registry.npmjs.org~a~-~a-1.0.0.tgz\"",
            "--index-url https:~~pypi.org~simple",
            "https:~~docs.rs~tracing-subscriber~latest~registry~index.html",
            "http:~~127.0.0.1:50051",
            "http:~~localhost:8080~standings",
            "https:~~registry.example.com~arena~referee",
            "redis:~~cache.corp.net",
            "write to me@example.com: https:~~example.com~@me",
            "the scheme is ://",
        ] {
            assert_eq!(private_registry(&line(text)), None, "false alarm: {text}");
        }
    }

    #[test]
    fn the_lints_must_be_inherited_in_their_own_section() {
        assert!(inherits_lints(
            "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"
        ));
        assert!(inherits_lints("[lints]\n# why\nworkspace=true"));
        assert!(!inherits_lints("[package]\nname = \"a\"\n"));
        assert!(!inherits_lints("[lints]\n\n[features]\nworkspace = true\n"));
        assert!(!inherits_lints("[lints]\nworkspace = false\n"));
        assert!(!inherits_lints("[a]\nworkspace = true\n[lints]\n"));
    }

    #[test]
    fn copied_lints_are_the_workspaces_but_for_unsafe_code() {
        let workspace = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n\n\
                         [workspace.lints.clippy]\n# why\ntodo = \"warn\"\n[profile.dev]\nx = 1\n";
        let copied = "[lints.rust]\nunsafe_code = \"deny\"\n[lints.clippy]\ntodo = \"warn\"\n";
        assert_eq!(copied_lints(copied), but_for_unsafe(workspace));
        for other in [
            copied.replace("deny", "allow"),
            copied.replace("todo = \"warn\"", ""),
            copied.replace("clippy", "rust"),
            "[lints]\nworkspace = true\n".to_owned(),
        ] {
            assert_ne!(copied_lints(&other), but_for_unsafe(workspace), "{other}");
        }
    }

    #[test]
    fn a_members_directory_is_read_from_the_tree() {
        let text = line("xtask v0.1.0 (~some where~xtask)");
        assert_eq!(member_dir(&text), Some(line("~some where~xtask").as_str()));
        assert_eq!(member_dir("serde v1.0.0"), None);
    }
}
