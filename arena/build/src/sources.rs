//! An upload: a zip, a tar, a tar.gz or one source file, checked and in memory.

use std::io::{self, Cursor, Read};

use flate2::read::GzDecoder;
use tar::{Archive, EntryType};
use zip::ZipArchive;

use crate::{
    fault::{BuildFault, FaultKind},
    limits::{BuildLimits, bytes},
    tree::{Tree, TreeFile, TreeLimits},
};

/// Folders in each other, in an upload.
const DEPTH: usize = 16;

/// Bytes that a tar file has for each file besides its content: headers and filling.
const TAR_OVERHEAD: u64 = 4096;

/// The sources of an entry: files with checked names, within bounds, in memory.
#[derive(Debug)]
pub struct Sources(pub(crate) Tree);

impl Sources {
    /// Reads an upload. What it is, its first bytes say; what is no archive is one source file
    /// with this name. A folder that everything lies in is left out.
    ///
    /// # Errors
    ///
    /// [`BuildFault`] says what is refused, and names it.
    pub fn read(name: &str, upload: &[u8], limits: &BuildLimits) -> Result<Self, BuildFault> {
        if upload.len() as u64 > limits.upload {
            let why = format!(
                "the upload has {}: expected at most {}",
                bytes(upload.len() as u64),
                bytes(limits.upload)
            );
            return Err(BuildFault::new(FaultKind::TooLarge, why));
        }
        let mut tree = Tree::new(TreeLimits {
            bytes: limits.unpacked,
            files: limits.files,
            depth: DEPTH,
            folds_case: true,
            what: "the upload, unpacked,",
            too_large: FaultKind::TooLarge,
        });
        match upload {
            [b'P', b'K', ..] => read_zip(upload, &mut tree)?,
            [0x1f, 0x8b, ..] => {
                let most = limits.unpacked + TAR_OVERHEAD * u64::from(limits.files);
                read_tar(GzDecoder::new(upload), most, &mut tree)?;
            }
            _ if upload.get(257..262) == Some(b"ustar") => {
                read_tar(upload, upload.len() as u64, &mut tree)?;
            }
            text if str::from_utf8(text).is_err() && text.contains(&0) => {
                let why = "expected a zip, a tar, a tar.gz or one source file";
                return Err(BuildFault::new(FaultKind::BadArchive, why));
            }
            text => {
                if name.contains('/') {
                    let why = format!("{name}: expected the name of a file");
                    return Err(BuildFault::new(FaultKind::BadName, why));
                }
                tree.add_file(name.as_bytes(), text.starts_with(b"#!"), text)?;
            }
        }
        let tree = tree.without_top();
        if tree.files().is_empty() {
            let why = "there is no file in it";
            return Err(BuildFault::new(FaultKind::BadArchive, why));
        }
        Ok(Self(tree))
    }

    /// The paths of the files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.files().keys().map(String::as_str)
    }

    pub(crate) fn file(&self, path: &str) -> Option<&TreeFile> {
        self.0.files().get(path)
    }

    /// True if a file has these bytes.
    pub(crate) fn has_in(&self, path: &str, words: &str) -> bool {
        let found = |file: &TreeFile| {
            let mut windows = file.bytes.windows(words.len());
            windows.any(|window| window == words.as_bytes())
        };
        self.file(path).is_some_and(found)
    }
}

fn read_zip(upload: &[u8], tree: &mut Tree) -> Result<(), BuildFault> {
    let bad = |error: &dyn std::error::Error| {
        let why = format!("it is no zip that can be read: {error}");
        BuildFault::new(FaultKind::BadArchive, why)
    };
    let mut archive = ZipArchive::new(Cursor::new(upload)).map_err(|error| bad(&error))?;
    if archive.has_duplicate_names() {
        let why = "the zip has a file twice: pack it again";
        return Err(BuildFault::new(FaultKind::BadName, why));
    }
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|error| bad(&error))?;
        let path = file.name_raw().to_vec();
        // The upper bits of the mode are the kind of file, where the packer's system has one.
        match file.unix_mode().map_or(0, |mode| mode & 0o170_000) {
            0o120_000 => return Err(tree.refused(&path, "a link")),
            0 | 0o040_000 | 0o100_000 => {}
            _ => return Err(tree.refused(&path, "a device or a pipe")),
        }
        if file.is_dir() {
            tree.add_folder(&path)?;
        } else {
            let is_program = file.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            tree.add_file(&path, is_program, file)?;
        }
    }
    Ok(())
}

/// Reads a tar file of which so many bytes are looked at.
pub(crate) fn read_tar(from: impl Read, most: u64, tree: &mut Tree) -> Result<(), BuildFault> {
    let bad = |error: &io::Error| {
        let why = format!("it is no tar that can be read: {error}");
        BuildFault::new(FaultKind::BadArchive, why)
    };
    // Long names are read into memory: the bound is around them too.
    let mut bounded = from.take(most + 1);
    let mut archive = Archive::new(&mut bounded);
    let mut entries = archive.entries().map_err(|error| bad(&error))?;
    let read = entries.try_for_each(|entry| {
        let entry = entry.map_err(|error| bad(&error))?;
        let path = entry.path_bytes().into_owned();
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => Ok(()),
            EntryType::Directory => tree.add_folder(&path),
            EntryType::Regular => {
                let mode = entry.header().mode().map_err(|error| bad(&error))?;
                tree.add_file(&path, mode & 0o111 != 0, entry)
            }
            EntryType::Symlink | EntryType::Link => Err(tree.refused(&path, "a link")),
            EntryType::Char | EntryType::Block => Err(tree.refused(&path, "a device")),
            EntryType::Fifo => Err(tree.refused(&path, "a pipe")),
            _ => Err(tree.refused(&path, "of a kind that is not known")),
        }
    });
    // Whatever the cut end looks like, this is the reason.
    match bounded.limit() {
        0 => Err(tree.too_large()),
        _ => read,
    }
}
