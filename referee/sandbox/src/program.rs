//! The program that is to run in a sandbox.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::ResourceLimits;

/// A program, and what it may see and take.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its file, or its name, which is looked for in `PATH`.
    pub path: PathBuf,
    /// Its arguments. Files that they name are visible, with the folders they lie in.
    pub arguments: Vec<OsString>,
    /// The folder that it runs in, where relative paths begin. Where nothing in it is named
    /// it is visible as a whole, unless it is a home folder or another one that is not one
    /// program's. This process' own folder where there is none; that is visible only if a
    /// file in it is named.
    pub directory: Option<PathBuf>,
    /// The folder in which it may make its socket. It sees it at the path that
    /// [`crate::Sandbox::socket_folder_inside`] gives.
    pub socket_folder: Option<PathBuf>,
    /// Variables besides `PATH`, `LANG`, `LC_*`, `HOME` and `TMPDIR`, the only ones that it
    /// gets without being named here. Files that their values name are visible, as those of
    /// arguments are.
    pub environment: Vec<(OsString, OsString)>,
    /// The home of the user who has installed the packages of its language, which are visible.
    pub home: Option<PathBuf>,
    /// More files and folders that it may read.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it must not see, also where a folder is visible that has
    /// them. They must exist when the program is started.
    pub hidden: Vec<PathBuf>,
    /// The resources that it may take.
    pub limits: ResourceLimits,
    /// True if it can't move itself to other cores than those it is started on.
    pub keeps_its_cores: bool,
}

/// A path in a folder, without the `./` that it may begin with.
#[must_use]
pub fn joined(folder: &Path, path: impl AsRef<Path>) -> PathBuf {
    folder.join(path).components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_folder_has_no_dot_in_it() {
        for (folder, path, expected) in [
            ("/srv/me", "./bot.py", "/srv/me/bot.py"),
            ("/srv/me", "./a/./bot.py", "/srv/me/a/bot.py"),
            ("/srv/me", "../bot.py", "/srv/me/../bot.py"),
            ("/srv/me", "/usr/bin/bot", "/usr/bin/bot"),
            ("", "./bot.py", "./bot.py"),
        ] {
            assert_eq!(joined(Path::new(folder), path), Path::new(expected));
        }
    }
}
