//! Records on disk: one file a game, compressed with zstd, never half written.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context as _;
use referee_core::Record;
use serde::Serialize;

use crate::usage;

/// What a record's file name ends with.
const ENDING: &str = "jsonl.zst";
/// The first bytes of every zstd frame (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// No record is larger than this; a file that is was not written by us.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The folder of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunFolder(PathBuf);

impl RunFolder {
    /// A folder that is named by a person, which must be new or empty, or one
    /// under `arena-runs` that is named by the time.
    pub(crate) fn create(named: Option<&Path>, verb: &str) -> anyhow::Result<Self> {
        let folder = match named {
            Some(folder) => {
                let used = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
                if used {
                    return usage(format!(
                        "--records {}: the folder is not empty; name a new one, so that nothing is lost",
                        folder.display()
                    ));
                }
                folder.to_owned()
            }
            None => Self::unused(verb)?,
        };
        if let Err(error) = fs::create_dir_all(folder.join("logs")) {
            return usage(format!(
                "could not make the folder {}: {error}; name another with --records, or ask for no records",
                folder.display()
            ));
        }
        Ok(Self(folder))
    }

    fn unused(verb: &str) -> anyhow::Result<PathBuf> {
        let now = humantime::format_rfc3339_seconds(SystemTime::now())
            .to_string()
            .replace(':', "-");
        let runs = Path::new("arena-runs");
        fs::create_dir_all(runs).context("could not make the folder arena-runs")?;
        // Two runs may begin in the same second.
        for number in 1_u32.. {
            let more = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let folder = runs.join(format!("{now}-{verb}{more}"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).context("could not make a folder in arena-runs"),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Where the bots' output goes.
    pub(crate) fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// Leaves nothing where nothing was printed, so that the folder of a run that
    /// kept nothing is as empty as it was.
    pub(crate) fn drop_empty_logs(&self) {
        // One that holds something stays.
        let _ = fs::remove_dir(self.logs());
    }

    /// Where a game's record goes.
    pub(crate) fn record(&self, game_id: &str) -> PathBuf {
        self.0.join(format!("{game_id}.{ENDING}"))
    }

    /// Writes a record; away from the thread that everything else waits for.
    pub(crate) async fn write(&self, record: Record) -> anyhow::Result<PathBuf> {
        let path = self.record(&record.header.game_id);
        let to = path.clone();
        tokio::task::spawn_blocking(move || {
            let text = record.to_json_lines();
            let packed = zstd::encode_all(text.as_bytes(), 0)?;
            write_whole(&to, &packed)
        })
        .await??;
        Ok(path)
    }

    /// Writes what the run is, for whoever finds the folder.
    pub(crate) fn describe(&self, about: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(about)?;
        write_whole(&self.0.join("run.json"), text.as_bytes())
    }
}

/// A folder that is gone when it is dropped.
pub(crate) fn temporary() -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("bot-arena-").tempdir();
    folder.context("could not make a folder among the temporary files (TMPDIR)")
}

/// Reads a record, packed or not.
pub(crate) fn read(path: &Path) -> anyhow::Result<Record> {
    let bytes = fs::read(path)
        .or_else(|error| usage(format!("could not read {}: {error}", path.display())))?;
    let text = if bytes.starts_with(&ZSTD_MAGIC) {
        let mut text = String::new();
        zstd::Decoder::new(&bytes[..])?
            .take(LARGEST)
            .read_to_string(&mut text)
            .with_context(|| format!("{} is no whole zstd file", path.display()))?;
        text
    } else {
        String::from_utf8(bytes).with_context(|| format!("{} is no text", path.display()))?
    };
    Record::parse(&text).with_context(|| format!("{} is no record", path.display()))
}

/// Under another name first, so that there is never half a file.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        // What the umask leaves of it, as for any file.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .with_context(|| format!("could not write in {}", folder.display()))?;
    file.write_all(bytes)?;
    file.persist(path)
        .with_context(|| format!("could not write {}", path.display()))?;
    Ok(())
}
