//! Files that people name on the command line, to be written.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use referee_bots::{Output, OutputOptions};
use referee_cli::usage;

/// A file that a person has named, while it is written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    output: Output,
}

impl OutputFile {
    /// Opens the file; one that is there is written over only with `force`.
    ///
    /// # Errors
    ///
    /// It is there already, or can't be written.
    pub fn open(path: &Path, force: bool) -> Result<Self> {
        let options = OutputOptions {
            overwrites: force,
            waits: true,
            ..OutputOptions::default()
        };
        Self::with(path, options)
    }

    /// The same; nobody but its owner may read it.
    ///
    /// # Errors
    ///
    /// As [`OutputFile::open`].
    pub fn open_private(path: &Path, force: bool) -> Result<Self> {
        let options = OutputOptions {
            overwrites: force,
            waits: true,
            is_private: true,
        };
        Self::with(path, options)
    }

    fn with(path: &Path, options: OutputOptions) -> Result<Self> {
        let path = path.to_owned();
        match Output::open(&path, options) {
            Ok(output) => Ok(Self { path, output }),
            Err(error) => usage(refusal(&path, &error)),
        }
    }

    /// Writes the whole of it.
    ///
    /// # Errors
    ///
    /// It can't be written, or has come there meanwhile.
    pub fn write_whole(mut self, bytes: &[u8]) -> Result<()> {
        let written = self.output.write_all(bytes);
        written.with_context(|| self.not_written())?;
        self.finish()
    }

    /// Ends the writing: the file is in its place.
    ///
    /// # Errors
    ///
    /// As [`OutputFile::write_whole`].
    pub fn finish(self) -> Result<()> {
        let why = self.not_written();
        self.output.finish().or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => usage(refusal(&self.path, &error)),
            _ => Err(error).context(why),
        })
    }

    /// The beginning of an error.
    pub fn not_written(&self) -> String {
        format!("could not write {}", self.path.display())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

fn refusal(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{path} is there already; --force writes over it")
        }
        _ => format!("could not write {path}: {error}"),
    }
}
