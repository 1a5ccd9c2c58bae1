//! The content of an unpacked archive, listed so that it is seen when somebody has changed it.
//! Contents are not read again: a file that is written to has another time of change, which
//! nobody can set.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use serde::{Deserialize, Serialize};

/// All that lies in a folder, by path.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listing(BTreeMap<String, ListedItem>);

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ListedItem {
    Folder {
        mode: u32,
    },
    File {
        mode: u32,
        size: u64,
        changed: (i64, i64),
    },
    Link(String),
    /// It is none of ours.
    Other,
}

impl Listing {
    /// The listing of what lies there now.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        let mut items = BTreeMap::new();
        look(folder, "", &mut items)?;
        Ok(Self(items))
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub(super) fn from_json(text: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(text)?)
    }

    pub(super) fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }
}

fn look(folder: &Path, above: &str, items: &mut BTreeMap<String, ListedItem>) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    items.insert(above.to_owned(), ListedItem::Folder { mode });
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{above}/{}", entry.file_name().to_string_lossy());
        let data = entry.metadata()?;
        let item = if data.is_dir() {
            look(&entry.path(), &path, items)?;
            continue;
        } else if data.is_file() {
            ListedItem::File {
                mode: data.permissions().mode(),
                size: data.len(),
                changed: (data.ctime(), data.ctime_nsec()),
            }
        } else if data.is_symlink() {
            let target = fs::read_link(entry.path())?;
            ListedItem::Link(target.to_string_lossy().into_owned())
        } else {
            ListedItem::Other
        };
        items.insert(path, item);
    }
    Ok(())
}
