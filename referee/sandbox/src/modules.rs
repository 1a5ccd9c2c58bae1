//! Where a module of Python is that a program did not find.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    packages::PackagePlace,
    program::Program,
    sandbox::search_path,
    script::head,
    view::{Homes, VisibleSearch, start_folder},
};

/// Most bytes that are read of one file, and most entries of one folder.
const LONGEST: u64 = 64 << 10;
const MOST: usize = 10_000;

/// The place of a module that a program did not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModulePlace {
    /// In this folder beside or above its files, where Python does not look.
    Near {
        /// The folder.
        folder: PathBuf,
        /// True if no sandbox shows the folder, also where it is named: a home, for instance.
        is_shared: bool,
    },
    /// In this folder, which `PYTHONPATH` names and no sandbox shows, for the same reason.
    Shared(PathBuf),
    /// In this folder, which a sandbox shows where it is named only: the package is installed in
    /// editable mode (PEP 660).
    Editable(PathBuf),
    /// In this folder of packages, which is another Python's.
    Other(PathBuf),
}

/// Looks for a module of this name, which has no dot, in the folders that the Python which runs a
/// program may read, and in those around its files. None where it is nowhere, or where Python
/// should have found it.
#[must_use]
pub fn find_module(program: &Program, module: &str) -> Option<ModulePlace> {
    let path = search_path(program);
    let start = start_folder(program).ok()?;
    let homes = Homes::of_this_machine().and(program.home.as_deref());
    let search = VisibleSearch::of(program, &homes, &path, &start).ok()?;
    let files = search.named().filter(|file| file.starts_with(&start));
    let own: Vec<&Path> = files.filter_map(Path::parent).collect();
    // Python looks in the folder of the file itself.
    if own.iter().any(|folder| has_module(folder, module)) {
        return None;
    }
    if let Some(folder) = near(&own, &start, module) {
        let is_shared = homes.is_shared(&folder);
        return Some(ModulePlace::Near { folder, is_shared });
    }
    let mut variables = program.environment.iter();
    let named = variables.find(|(name, _)| name == "PYTHONPATH");
    let named = named
        .map(|(_, value)| value.as_os_str())
        .unwrap_or_default();
    for folder in
        env::split_paths(named).filter_map(|folder| fs::canonicalize(start.join(folder)).ok())
    {
        if has_module(&folder, module) {
            return homes
                .is_shared(&folder)
                .then_some(ModulePlace::Shared(folder));
        }
    }
    let places = search.package_places(program).into_iter();
    let folders: Vec<PathBuf> = places
        .flat_map(|PackagePlace { path, .. }| {
            ["site-packages", "dist-packages"].map(|name| path.join(name))
        })
        .filter(|folder| folder.is_dir())
        .collect();
    let editable = folders.iter().find_map(|folder| editable(folder, module));
    let other = || {
        folders
            .iter()
            .find(|folder| has_module(folder, module))
            .cloned()
    };
    editable
        .map(ModulePlace::Editable)
        .or_else(|| other().map(ModulePlace::Other))
}

/// The folder of a module above those of the files that are named, or where they are started.
fn near(own: &[&Path], start: &Path, module: &str) -> Option<PathBuf> {
    let above = own.iter().flat_map(|folder| folder.ancestors().skip(1));
    let mut above = above
        .filter(|folder| folder.starts_with(start))
        .chain([start]);
    above
        .find(|folder| has_module(folder, module))
        .map(Path::to_owned)
}

/// True if a module, or a package of modules, of this name lies in a folder.
fn has_module(folder: &Path, module: &str) -> bool {
    folder.join(module).join("__init__.py").is_file()
        || folder.join(format!("{module}.py")).is_file()
}

/// The folder that has a module, where that is installed in editable mode in a folder of packages:
/// a line of a `.pth` file names it (<https://docs.python.org/3/library/site.html>), or the
/// folder of its project does, in `direct_url.json` (PEP 610).
fn editable(packages: &Path, module: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(packages).ok()?.flatten().take(MOST);
    entries.map(|entry| entry.path()).find_map(|path| {
        let folders = match path.extension()?.to_str()? {
            "pth" => text(&path)?
                .lines()
                .map(|line| packages.join(line.trim_end()))
                .collect(),
            "dist-info" => {
                let origin: serde_json::Value =
                    serde_json::from_str(&text(&path.join("direct_url.json"))?).ok()?;
                if origin["dir_info"]["editable"] != true {
                    return None;
                }
                let project = PathBuf::from(origin["url"].as_str()?.strip_prefix("file://")?);
                vec![project.join("src"), project]
            }
            _ => return None,
        };
        folders
            .into_iter()
            .find(|folder| folder != packages && has_module(folder, module))
    })
}

fn text(file: &Path) -> Option<String> {
    String::from_utf8(head(file, LONGEST)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(file: &Path, text: &str) {
        fs::create_dir_all(file.parent().expect("it has one")).expect("a folder");
        fs::write(file, text).expect("a file");
    }

    fn found(start: &Path, home: &Path, python_path: &Path) -> Option<ModulePlace> {
        let program = Program {
            path: "python3".into(),
            arguments: vec!["bots/mine/bot.py".into()],
            directory: Some(start.into()),
            environment: vec![("PYTHONPATH".into(), python_path.into())],
            home: Some(home.into()),
            ..Program::default()
        };
        find_module(&program, "kit")
    }

    #[test]
    fn a_module_is_found_where_python_did_not_look() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = fs::canonicalize(folder.path()).expect("it is there");
        let (home, start) = (folder.join("home"), folder.join("start"));
        let nowhere = Path::new("/nowhere");
        write(&start.join("bots/mine/bot.py"), "import kit");
        fs::create_dir(&home).expect("a folder");
        assert_eq!(found(&start, &home, nowhere), None);

        let packages = home.join(".local/lib/python3.99/site-packages");
        write(&packages.join("kit/__init__.py"), "");
        let other = ModulePlace::Other(packages.clone());
        assert_eq!(found(&start, &home, nowhere), Some(other));

        // The line of a file, and the note of a package that has no such line.
        let project = folder.join("project");
        write(&project.join("kit.py"), "");
        let line = packages.join("__editable__.kit.pth");
        write(&line, &format!("import sys\n{}\n", project.display()));
        let editable = ModulePlace::Editable(project.clone());
        assert_eq!(found(&start, &home, nowhere), Some(editable));
        fs::remove_file(line).expect("it is there");
        fs::remove_file(project.join("kit.py")).expect("it is there");
        write(&project.join("src/kit/__init__.py"), "");
        let url = format!(
            r#"{{"url":"file://{}","dir_info":{{"editable":true}}}}"#,
            project.display()
        );
        write(&packages.join("a_kit-1.0.dist-info/direct_url.json"), &url);
        let editable = ModulePlace::Editable(project.join("src"));
        assert_eq!(found(&start, &home, nowhere), Some(editable));

        // A home, which no sandbox shows.
        write(&home.join("kit.py"), "");
        assert_eq!(
            found(&start, &home, &home),
            Some(ModulePlace::Shared(home.clone()))
        );
        // One that it shows, so that Python did look there.
        assert_eq!(found(&start, &home, &project.join("src")), None);

        for (place, is_shared) in [(&start, false), (&start.join("bots"), false)] {
            write(&place.join("kit.py"), "");
            let folder = place.clone();
            let near = ModulePlace::Near { folder, is_shared };
            assert_eq!(found(&start, &home, nowhere), Some(near));
        }
        assert_eq!(
            found(&start, &start, nowhere),
            Some(ModulePlace::Near {
                folder: start.join("bots"),
                is_shared: false
            })
        );
        fs::remove_file(start.join("bots/kit.py")).expect("it is there");
        assert_eq!(
            found(&start, &start, nowhere),
            Some(ModulePlace::Near {
                folder: start.clone(),
                is_shared: true
            })
        );
        // Beside the bot Python does look.
        write(&start.join("bots/mine/kit.py"), "");
        assert_eq!(found(&start, &home, nowhere), None);
    }
}
