//! Bots whose files lie in one folder: a bot sees the folder of its own file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::Entry;

/// A folder with the files of several bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFolder {
    /// Its path.
    pub folder: PathBuf,
    /// The name of each bot, and its file in the folder.
    pub files: Vec<(String, String)>,
}

/// The folders in which several of these bots have files of their own. Bots of one file are one
/// program, which has nothing to hide from itself. Relative paths are those of `directory`.
#[must_use]
pub fn shared_folders<'e>(
    bots: impl IntoIterator<Item = &'e Entry>,
    directory: &Path,
) -> Vec<SharedFolder> {
    let mut folders: BTreeMap<PathBuf, BTreeMap<String, String>> = BTreeMap::new();
    for bot in bots {
        // A packed bot has a folder of its own wherever it is played.
        let file = match bot.launcher().archive() {
            Some(_) => None,
            None => bot.launcher().program_file(directory),
        };
        let real = file.and_then(|file| file.canonicalize().ok());
        if let Some(real) = real
            && let (Some(folder), Some(name)) = (real.parent(), real.file_name())
        {
            let files = folders.entry(folder.to_owned()).or_default();
            let name = name.to_string_lossy().into_owned();
            files.entry(name).or_insert_with(|| bot.name.clone());
        }
    }
    let shared = folders.into_iter().filter(|(_, files)| files.len() > 1);
    let shared = shared.map(|(folder, files)| SharedFolder {
        folder,
        files: files.into_iter().map(|(file, bot)| (bot, file)).collect(),
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schemes;

    #[test]
    fn only_different_files_in_one_folder_are_neighbours() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap();
        for file in ["class/ann.py", "class/bob.py", "alone/eve.py"] {
            std::fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            std::fs::write(folder.join(file), "").unwrap();
        }
        let entries = Entry::read_all(
            &[
                "ann=exec:python3 class/ann.py",
                "fast=exec:python3 class/ann.py --fast",
                "bob=exec:python3 class/bob.py",
                "eve=exec:python3 alone/eve.py",
                "far=grpc://127.0.0.1:1",
            ],
            &Schemes::with(Vec::new()),
        );
        let shared = shared_folders(&entries.unwrap(), &folder);
        let file = |bot: &str, file: &str| (bot.to_owned(), file.to_owned());
        let expected = SharedFolder {
            folder: folder.join("class"),
            files: vec![file("ann", "ann.py"), file("bob", "bob.py")],
        };
        assert_eq!(shared, [expected]);
    }
}
