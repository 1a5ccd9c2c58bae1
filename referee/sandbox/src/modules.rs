//! Where a module is that a program did not find.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    packages::{self, ModuleLanguage, Modules, Start, folders_of_templates, modules_of},
    program::Program,
    sandbox::search_path,
    script::head,
    view::{Homes, VisibleSearch, start_folder},
};

/// Most bytes that are read of one file, and most entries of one folder.
const LONGEST: u64 = 64 << 10;
const MOST: usize = 10_000;

/// The folder of packages of Node.
const NODE_MODULES: &str = "node_modules";

/// A module that a program did not find, as its runtime has said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingModule {
    /// The language.
    pub language: ModuleLanguage,
    /// Its name, as the program has it: `kit.games`, `Kit::Games`. Of JavaScript the name of the
    /// package that it is in.
    pub name: String,
    /// The names of its folders and its file, without the end.
    path: String,
}

/// The place of a module that a program did not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModulePlace {
    /// In no folder in which such are looked for.
    Nowhere,
    /// Beside the program's file, where its language looks only if it is told.
    Beside {
        /// The folder.
        folder: PathBuf,
        /// The module's file in it.
        file: PathBuf,
    },
    /// Beside the program's file, in this folder, of which a sandbox shows nothing else: it is a
    /// home, for instance.
    Alone(PathBuf),
    /// In this folder above its files, or where it is started, where its language does not look.
    Near {
        /// The folder.
        folder: PathBuf,
        /// True if no sandbox shows the folder, also where it is named: a home, for instance.
        is_shared: bool,
    },
    /// In this folder, which a variable names and no sandbox shows, for the same reason.
    Shared {
        /// The folder.
        folder: PathBuf,
        /// The variable.
        variable: String,
    },
    /// In this folder, which a sandbox shows where it is named only: a package in another folder
    /// refers to it, by editable mode (PEP 660) or a link.
    Editable(PathBuf),
    /// In this folder of packages, which is another installation's, or is not looked into.
    Other(PathBuf),
}

impl MissingModule {
    /// The module that a program did not find which has printed this text.
    #[must_use]
    pub fn in_text(text: &str) -> Option<Self> {
        let said = |modules: &'static Modules| {
            let mut forms = modules.says.iter();
            let name = forms.find_map(|(before, after)| {
                let (_, rest) = text.rsplit_once(before)?;
                Some(rest.split_once(after)?.0)
            })?;
            let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
            is_name.then(|| Self::of(modules, name))
        };
        packages::modules().find_map(said)
    }

    fn of(modules: &Modules, said: &str) -> Self {
        let (name, path) = match modules.language {
            ModuleLanguage::JavaScript => (package(said).to_owned(), package(said).to_owned()),
            ModuleLanguage::Perl => (said.replace('/', "::"), said.to_owned()),
            _ => (said.to_owned(), said.replace(modules.between, "/")),
        };
        Self {
            language: modules.language,
            name,
            path,
        }
    }

    /// True if it is named by a path, as a file of the program's own is, and not by a name.
    #[must_use]
    pub fn is_path(&self) -> bool {
        self.path.starts_with(['.', '/'])
    }

    /// The file of the module in a folder of modules, if it has one there.
    fn file_in(&self, folder: &Path) -> Option<PathBuf> {
        // A name alone is no file of data.
        let is_code = |end: &&&str| self.is_path() || !matches!(**end, "" | ".json" | ".node");
        let mut ends = modules_of(self.language)?.files.iter().filter(is_code);
        ends.find_map(|end| {
            let file = folder.join(format!("{}{end}", self.path));
            file.is_file().then_some(file)
        })
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.file_in(folder).is_some()
    }
}

impl ModulePlace {
    /// True if the module is found there where no sandbox hides it.
    #[must_use]
    pub const fn is_hidden(&self) -> bool {
        matches!(
            self,
            Self::Alone(_) | Self::Shared { .. } | Self::Editable(_)
        )
    }
}

/// The package of a module of JavaScript, of its name in the program: `@scope/kit/file`.
fn package(name: &str) -> &str {
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let end = name.match_indices('/').nth(parts - 1);
    match end {
        Some((end, _)) if !name.starts_with(['.', '/']) => &name[..end],
        _ => name,
    }
}

/// Looks for a module in the folders that the runtime of a program may read, and in those around
/// its files. None where the runtime should have found it, so that another thing is wrong.
#[must_use]
pub fn find_module(program: &Program, missing: &MissingModule) -> Option<ModulePlace> {
    let path = search_path(program);
    let start = start_folder(program).ok()?;
    let homes = Homes::of_this_machine().and(program.home.as_deref());
    let search = VisibleSearch::of(program, &homes, &path, &start).ok()?;
    let arguments = program.arguments.iter();
    let arguments: Vec<PathBuf> = arguments
        .filter_map(|word| fs::canonicalize(start.join(word)).ok())
        .collect();
    let is_own = |file: &&Path| file.starts_with(&start) || arguments.iter().any(|own| own == file);
    let own: Vec<&Path> = search
        .named()
        .filter(is_own)
        .filter_map(Path::parent)
        .collect();
    let language = missing.language;
    if language == ModuleLanguage::Python && missing.name.contains('.') {
        // The package that it should be in was found.
        return None;
    }
    if missing.is_path() {
        // A path begins in the folder of the file, or in that in which it is started.
        let files = own.iter().copied().chain([&*start]);
        let file = files.filter_map(|folder| missing.file_in(folder)).next()?;
        let folder = fs::canonicalize(file.parent()?).ok()?;
        let is_beside = own.iter().any(|own| folder.starts_with(own));
        return match (homes.is_shared(&folder), is_beside) {
            (true, true) => Some(ModulePlace::Alone(folder)),
            (false, true) => None,
            (is_shared, false) => Some(ModulePlace::Near { folder, is_shared }),
        };
    }
    if let Some((folder, file)) = own
        .iter()
        .find_map(|folder| Some((folder, missing.file_in(folder)?)))
    {
        let folder = folder.to_path_buf();
        let is_looked_into = language == ModuleLanguage::Python
            || (language == ModuleLanguage::Lua && folder == start);
        return match (homes.is_shared(&folder), is_looked_into) {
            (true, _) => Some(ModulePlace::Alone(folder)),
            (false, true) => None,
            (false, false) => Some(ModulePlace::Beside { folder, file }),
        };
    }
    if let Some(folder) = near(&own, &start, missing) {
        let is_shared = homes.is_shared(&folder);
        return Some(ModulePlace::Near { folder, is_shared });
    }
    search.of_start(program, |start| {
        if let Some((variable, folder)) = named(start, missing) {
            let is_shared = homes.is_shared(&folder);
            return is_shared.then_some(ModulePlace::Shared { folder, variable });
        }
        match language {
            ModuleLanguage::JavaScript => of_node(&own, start, missing),
            _ => in_packages(start, missing),
        }
    })
}

/// The folder of a module above those of the files that are named, or where they are started.
fn near(own: &[&Path], start: &Path, missing: &MissingModule) -> Option<PathBuf> {
    let above = own.iter().flat_map(|folder| folder.ancestors().skip(1));
    let mut above = above
        .filter(|folder| folder.starts_with(start))
        .chain([start]);
    above
        .find(|folder| missing.is_in(folder))
        .map(Path::to_owned)
}

/// The variable that names the folder of a module, and that folder.
fn named(start: &Start, missing: &MissingModule) -> Option<(String, PathBuf)> {
    let modules = modules_of(missing.language)?;
    modules.named.iter().find_map(|(variable, below)| {
        let folders = start
            .values(variable)
            .flat_map(|value| match modules.language {
                ModuleLanguage::Lua => folders_of_templates(value),
                _ => env::split_paths(value).collect(),
            });
        let mut folders =
            folders.filter_map(|folder| fs::canonicalize(start.folder.join(folder)).ok());
        let folder = folders.find(|folder| {
            let mut folders = below_each(folder, below).into_iter();
            folders.any(|folder| missing.is_in(&folder))
        })?;
        Some((variable.trim_end_matches('*').to_owned(), folder))
    })
}

/// The place of a package of Node.
fn of_node(own: &[&Path], start: &Start, missing: &MissingModule) -> Option<ModulePlace> {
    let files = own.iter().copied().chain([start.folder]);
    for folder in files.flat_map(Path::ancestors) {
        let packages = folder.join(NODE_MODULES);
        if let Ok(real) = fs::canonicalize(packages.join(&missing.path)) {
            let shown = own.iter().any(|own| real.starts_with(own)) || real.starts_with(&packages);
            return (!shown).then_some(ModulePlace::Editable(real));
        }
    }
    let places = packages::places_of(start, missing.language).into_iter();
    let found = places
        .map(|place| place.path)
        .find(|place| place.join(&missing.path).exists());
    match found {
        // There `npm install -g` puts packages, and Node looks for none.
        Some(place) if place.ends_with("lib/node_modules") => Some(ModulePlace::Other(place)),
        Some(_) => None,
        None => Some(ModulePlace::Nowhere),
    }
}

/// The place of a module in the folders of packages of a runtime.
fn in_packages(start: &Start, missing: &MissingModule) -> Option<ModulePlace> {
    let modules = modules_of(missing.language)?;
    // Perl looks below a place that is named to it.
    let is_named_alone = missing.language == ModuleLanguage::Perl;
    let mut folders = Vec::new();
    for place in packages::places_of(start, missing.language) {
        let below = modules.below.iter();
        let below = below.flat_map(|below| below_each(&place.path, below));
        // Other folders there are parts of names.
        let is_looked_into =
            |folder: &PathBuf| !is_named_alone || *folder == place.path || is_of_version(folder);
        for folder in below.filter(is_looked_into) {
            let named = if is_named_alone { &place.path } else { &folder };
            folders.push((named.clone(), folder));
        }
    }
    if missing.language == ModuleLanguage::Python
        && let Some(folder) = folders
            .iter()
            .find_map(|(_, folder)| editable(folder, missing))
    {
        return Some(ModulePlace::Editable(folder));
    }
    let found = folders
        .into_iter()
        .find(|(_, folder)| missing.is_in(folder));
    Some(found.map_or(ModulePlace::Nowhere, |(place, _)| ModulePlace::Other(place)))
}

/// True of a folder that Perl has for one version or one kind of machine: `5.36.0`,
/// `x86_64-linux-gnu-thread-multi`.
fn is_of_version(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(|c: char| c.is_ascii_digit()) || name.contains("-linux")
}

/// The paths below a folder that match, where a `*` is any name.
fn below_each(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for name in pattern.split('/').filter(|name| !name.is_empty()) {
        found = match name {
            "*" => found.iter().flat_map(|folder| entries(folder)).collect(),
            name => found.iter().map(|folder| folder.join(name)).collect(),
        };
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MOST).map(|entry| entry.path()).collect()
}

/// The folder that has a module, where that is installed in editable mode in a folder of packages:
/// a line of a `.pth` file names it (<https://docs.python.org/3/library/site.html>), or the
/// folder of its project does, in `direct_url.json` (PEP 610).
fn editable(packages: &Path, missing: &MissingModule) -> Option<PathBuf> {
    entries(packages).into_iter().find_map(|path| {
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
            .find(|folder| folder != packages && missing.is_in(folder))
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
        let missing = MissingModule::in_text("ModuleNotFoundError: No module named 'kit'");
        find_module(&program, &missing.expect("it is said"))
    }

    /// Each was printed by the runtime of that language.
    #[test]
    fn a_module_is_named_by_what_its_runtime_says() {
        use ModuleLanguage::{JavaScript, Lua, Perl, Python, Ruby};
        for (said, language, name) in [
            ("No module named 'a.b'; 'a' is not a package", Python, "a.b"),
            (
                "Error: Cannot find module 'kit/sub/a.js' / Require stack:",
                JavaScript,
                "kit",
            ),
            (
                "Error: Cannot find module './helper'",
                JavaScript,
                "./helper",
            ),
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/kit' imported from /b.mjs",
                JavaScript,
                "@a/kit",
            ),
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/c/a.mjs' imported from /b.mjs",
                JavaScript,
                "/c/a.mjs",
            ),
            (
                "in `require': cannot load such file -- kit/a (LoadError)",
                Ruby,
                "kit/a",
            ),
            (
                "Can't locate A/Kit.pm in @INC (you may need to install",
                Perl,
                "A::Kit",
            ),
            ("lua: bot.lua:1: module 'kit.a' not found:", Lua, "kit.a"),
        ] {
            let found = MissingModule::in_text(said).expect(said);
            assert_eq!((found.language, &*found.name), (language, name));
            assert_eq!(found.is_path(), name.starts_with(['.', '/']));
        }
        for other in [
            "",
            "No module named nosuch",
            "bot.ts(1,1): error TS2307: Cannot find module 'kit' or its type declarations.",
            "cannot load such file -- (LoadError)",
            "Can't locate helper.pl in @INC",
            "the module 'kit' not found",
        ] {
            assert_eq!(MissingModule::in_text(other), None, "{other}");
        }
    }

    #[test]
    fn a_module_is_found_where_python_did_not_look() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = fs::canonicalize(folder.path()).expect("it is there");
        let (home, start) = (folder.join("home"), folder.join("start"));
        let nowhere = Path::new("/nowhere");
        write(&start.join("bots/mine/bot.py"), "import kit");
        fs::create_dir(&home).expect("a folder");
        let found_nowhere = Some(ModulePlace::Nowhere);
        assert_eq!(found(&start, &home, nowhere), found_nowhere);

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
            Some(ModulePlace::Shared {
                folder: home.clone(),
                variable: "PYTHONPATH".to_owned()
            })
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
        // Beside the bot Python does look, and where that is a home it sees the bot alone.
        let mine = start.join("bots/mine");
        write(&mine.join("kit.py"), "");
        assert_eq!(found(&start, &home, nowhere), None);
        assert_eq!(
            found(&start, &mine, nowhere),
            Some(ModulePlace::Alone(mine))
        );
    }
}
