//! Whole folders: those that only we may change again, and those that go.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// Makes a folder and all in it read-only, from the leaves to the root.
pub(super) fn make_read_only(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            make_read_only(&entry.path())?;
        } else if kind.is_file() {
            let mode = entry.metadata()?.permissions().mode();
            let mode = if mode & 0o111 != 0 { 0o555 } else { 0o444 };
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode))?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555))
}

/// Removes a folder with all in it, read-only or not. It is no error if it is not there, or if
/// another process removes it at the same time.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        folders.extend(or_gone(make_writable(&folder))?);
    }
    or_gone(fs::remove_dir_all(folder))
}

/// Lets us remove what is in a folder. Returns the folders in it.
fn make_writable(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Ok(Vec::new());
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if or_gone(entry.file_type().map(|kind| kind.is_dir()))? {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// The result of a step, or nothing if what it was to work on is not there any more.
fn or_gone<T: Default>(result: io::Result<T>) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        result => result,
    }
}
