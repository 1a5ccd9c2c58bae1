//! Values that are read from files, and read again when the files change.

use std::{fmt::Display, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::file::Stamp;

/// Shortest interval between two looks at the files.
const INTERVAL: Duration = Duration::from_secs(1);

/// A value that is read from files. It is as new as they are, or the last one that was valid.
pub(crate) struct Reloaded<T, E> {
    files: Vec<PathBuf>,
    read: Box<dyn Fn() -> Result<T, E> + Send + Sync>,
    state: Mutex<ReloadState<T>>,
}

struct ReloadState<T> {
    present: Arc<T>,
    stamps: Vec<Option<Stamp>>,
    looked: Instant,
    /// The last error that was told, so that it is told once.
    told: Option<String>,
}

impl<T, E: Display> Reloaded<T, E> {
    /// Reads it from these files.
    ///
    /// # Errors
    ///
    /// That of `read`.
    pub(crate) fn load(
        files: Vec<PathBuf>,
        read: impl Fn() -> Result<T, E> + Send + Sync + 'static,
    ) -> Result<Self, E> {
        // Before they are read: what changes while we read is read again.
        let stamps = stamps(&files);
        let present = Arc::new(read()?);
        Ok(Self {
            files,
            read: Box::new(read),
            state: Mutex::new(ReloadState {
                present,
                stamps,
                looked: Instant::now(),
                told: None,
            }),
        })
    }

    /// The value that the files have now. Where that is not valid, the value before, and
    /// the error is logged once.
    pub(crate) fn present(&self) -> Arc<T> {
        let mut state = self.state.lock();
        let now = Instant::now();
        if now.duration_since(state.looked) < INTERVAL {
            return state.present.clone();
        }
        state.looked = now;
        let stamps = stamps(&self.files);
        if stamps == state.stamps {
            return state.present.clone();
        }
        state.stamps = stamps;
        match (self.read)() {
            Ok(new) => {
                tracing::info!(files = ?self.files, "files have changed and were read again");
                state.present = Arc::new(new);
                state.told = None;
            }
            Err(error) => {
                let error = error.to_string();
                if state.told.as_ref() != Some(&error) {
                    tracing::warn!(
                        %error,
                        "files have changed and are not valid; what they held before stays in use"
                    );
                    state.told = Some(error);
                }
            }
        }
        state.present.clone()
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Option<Stamp>> {
    files.iter().map(|file| Stamp::of(file)).collect()
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a test reads what it has written"
)]
mod tests {
    use std::path::Path;

    use super::*;

    fn number_in(file: &Path) -> Reloaded<u32, String> {
        let path = file.to_owned();
        let read = move || {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            text.parse().map_err(|_| format!("{text} is no number"))
        };
        Reloaded::load(vec![file.to_owned()], read).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_read_again_when_it_has_changed_and_is_valid() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        std::fs::write(&file, "1").unwrap();
        let number = number_in(&file);
        assert_eq!(*number.present(), 1);
        let steps: [(&str, u32); 4] = [("20", 20), ("twenty", 20), ("", 20), ("3", 3)];
        for (text, expected) in steps {
            std::fs::write(&file, text).unwrap();
            tokio::time::advance(INTERVAL).await;
            assert_eq!(*number.present(), expected, "after {text:?}");
        }
        std::fs::remove_file(&file).unwrap();
        tokio::time::advance(INTERVAL).await;
        assert_eq!(*number.present(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_looked_at_once_a_second_at_most() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        std::fs::write(&file, "1").unwrap();
        let number = number_in(&file);
        std::fs::write(&file, "22").unwrap();
        tokio::time::advance(INTERVAL / 2).await;
        assert_eq!(*number.present(), 1);
        tokio::time::advance(INTERVAL / 2).await;
        assert_eq!(*number.present(), 22);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_renamed_over_another_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (file, new) = (folder.path().join("number"), folder.path().join("new"));
        std::fs::write(&file, "1").unwrap();
        let number = number_in(&file);
        std::fs::write(&new, "2").unwrap();
        std::fs::rename(&new, &file).unwrap();
        tokio::time::advance(INTERVAL).await;
        assert_eq!(*number.present(), 2);
    }
}
