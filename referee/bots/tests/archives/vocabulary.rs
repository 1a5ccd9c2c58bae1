//! Helpers of the tests: folders, and archives that were made by hand.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use referee_bots::archive::ArchiveHash;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

/// A folder that is thrown away, also where something in it is read-only.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name, text);
        set_mode(&file, 0o755);
        file
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        let link = self.join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        make_writable(self.path());
    }
}

fn make_writable(folder: &Path) {
    set_mode(folder, 0o700);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            make_writable(&entry.path());
        }
    }
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// An archive that is written entry by entry, without any check.
pub(crate) struct ByHand(Builder<Vec<u8>>);

impl ByHand {
    pub(crate) fn new() -> Self {
        Self(Builder::new(Vec::new()))
    }

    pub(crate) fn file(self, path: &str, content: &[u8]) -> Self {
        self.entry(path, EntryType::Regular, 0o644, content)
    }

    pub(crate) fn folder(self, path: &str) -> Self {
        self.entry(path, EntryType::Directory, 0o755, b"")
    }

    pub(crate) fn entry(mut self, path: &str, kind: EntryType, mode: u32, content: &[u8]) -> Self {
        let mut header = header(path, kind, mode);
        header.set_size(content.len() as u64);
        header.set_cksum();
        self.0.append(&header, content).unwrap();
        self
    }

    pub(crate) fn link(mut self, path: &str, kind: EntryType, target: &str) -> Self {
        let mut header = header(path, kind, 0o777);
        header.set_link_name_literal(target).unwrap();
        header.set_cksum();
        self.0.append(&header, &b""[..]).unwrap();
        self
    }

    /// The packed bytes, and the hash that they have.
    pub(crate) fn packed(self) -> (ArchiveHash, Vec<u8>) {
        packed(&self.0.into_inner().unwrap())
    }
}

/// A header with a path that nobody has looked at.
fn header(path: &str, kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header
}

pub(crate) fn packed(tar: &[u8]) -> (ArchiveHash, Vec<u8>) {
    let hash = ArchiveHash::new(Sha256::digest(tar).into());
    (hash, zstd::encode_all(tar, 1).unwrap())
}
