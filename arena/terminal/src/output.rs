//! Files that people name on the command line, to be written.

use std::{
    io::{self, BufWriter, IntoInnerError, Stdout, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use referee_bots::{Output, OutputOptions};
use referee_cli::usage;

use crate::report;

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

/// A file that a person has named, or standard output where none is named.
pub enum ExportOutput {
    /// Standard output.
    Standard(BufWriter<Stdout>),
    /// A file.
    File(BufWriter<OutputFile>),
}

impl ExportOutput {
    /// Opens the file; one that is there is written over only with `force`.
    ///
    /// # Errors
    ///
    /// As [`OutputFile::open`].
    pub fn open(path: Option<&Path>, force: bool) -> Result<Self> {
        Ok(match path {
            None => Self::Standard(BufWriter::new(io::stdout())),
            Some(path) => Self::File(BufWriter::new(OutputFile::open(path, force)?)),
        })
    }

    /// Ends the writing: all of it is in its place.
    ///
    /// # Errors
    ///
    /// As [`OutputFile::write_whole`].
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Standard(mut out) => out.flush().context(report::NOT_WRITTEN),
            Self::File(out) => {
                let why = out.get_ref().not_written();
                let file = out.into_inner().map_err(IntoInnerError::into_error);
                file.context(why)?.finish()
            }
        }
    }

    /// The beginning of an error.
    pub fn not_written(&self) -> String {
        match self {
            Self::Standard(_) => report::NOT_WRITTEN.to_owned(),
            Self::File(out) => out.get_ref().not_written(),
        }
    }
}

impl Write for ExportOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
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
