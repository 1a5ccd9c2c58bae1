//! Symbolic links in an archive: none may lead out of the folder.

use std::collections::{BTreeMap, VecDeque};

/// So many links are followed one after the other, as Linux does.
const MOST_FOLLOWED: usize = 40;

/// The targets of the links of an archive, by path. Paths have slashes, and begin at the folder.
pub(super) type Links = BTreeMap<String, String>;

/// Checks that a link leads to a place within the folder, whatever other links are on its
/// way. It may lead to a file that is not there.
///
/// # Errors
///
/// How it leaves the folder, or that it never ends.
pub(super) fn stays_inside(links: &Links, path: &str) -> Result<(), &'static str> {
    let mut place: Vec<String> = Vec::new();
    let mut rest: VecDeque<String> = names(path);
    let mut followed = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            // A path of files has none, so it is a link's.
            if place.pop().is_none() {
                return Err("it is a link that leads out of the folder by \"..\"");
            }
            continue;
        }
        place.push(name);
        let Some(target) = links.get(&place.join("/")) else {
            continue;
        };
        if target.starts_with('/') {
            return Err("it is a link to an absolute path, which is another file elsewhere");
        }
        followed += 1;
        if followed > MOST_FOLLOWED {
            return Err("it is a link that leads to itself");
        }
        place.pop();
        for name in names(target).into_iter().rev() {
            rest.push_front(name);
        }
    }
    Ok(())
}

fn names(path: &str) -> VecDeque<String> {
    path.split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(links: &[(&str, &str)], path: &str) -> Result<(), &'static str> {
        let links = links.iter();
        let links = links.map(|(path, target)| ((*path).to_owned(), (*target).to_owned()));
        stays_inside(&links.collect(), path)
    }

    #[test]
    fn a_link_within_the_folder_stays_there() {
        for (path, target) in [
            ("latest", "v2/bot"),
            ("a/b/here", "../../data"),
            ("a/all", ".."),
            ("none", "not/there"),
            ("dots", "./a/./b"),
        ] {
            assert_eq!(check(&[(path, target)], path), Ok(()), "{path} -> {target}");
        }
    }

    #[test]
    fn a_link_that_leaves_the_folder_on_any_way_is_found() {
        for (path, target) in [("x", ".."), ("a/x", "../../etc"), ("x", "a/../../b")] {
            let why = check(&[(path, target)], path).unwrap_err();
            assert!(why.contains("leads out"), "{path} -> {target}: {why}");
        }
        let why = check(&[("x", "/etc/passwd")], "x").unwrap_err();
        assert!(why.contains("absolute"), "{why}");
        // By its text alone it would stay inside.
        let tricky = [("a/b/c/up", "../../.."), ("x", "a/b/c/up/../..")];
        assert_eq!(check(&tricky, "a/b/c/up"), Ok(()));
        assert!(check(&tricky, "x").unwrap_err().contains("leads out"));
    }

    #[test]
    fn links_that_lead_to_each_other_end() {
        let round = [("x", "y"), ("y", "x")];
        assert!(check(&round, "x").unwrap_err().contains("to itself"));
        assert!(
            check(&[("x", "x/x/x")], "x")
                .unwrap_err()
                .contains("to itself")
        );
    }
}
