//! `arena replay verify`: plays records again and says whether they are what they
//! say.

use std::path::PathBuf;

use clap::Args;
use referee_games::replay;
use serde_json::json;

use super::in_words;
use crate::{
    End, Usage, files,
    report::{event, text},
    verbs::Format,
};

#[derive(Args)]
pub(crate) struct Verify {
    /// Records (.jsonl or .jsonl.zst).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Verify {
    pub(super) fn run(self) -> anyhow::Result<End> {
        let mut end = End::Done;
        for file in &self.files {
            let proved = files::read(file).and_then(|record| {
                replay(&record, |_| {})?;
                Ok(record)
            });
            match &proved {
                Err(error) if error.is::<Usage>() && end == End::Done => end = End::Usage,
                Err(error) if !error.is::<Usage>() => end = End::No,
                _ => {}
            }
            match (self.format, proved) {
                (Format::Text, Ok(record)) => {
                    text(&format!(
                        "{}: proved, {}\n",
                        file.display(),
                        in_words(&record)
                    ))?;
                }
                (Format::Text, Err(error)) => {
                    text(&format!("{}: NOT PROVED: {error:#}\n", file.display()))?;
                }
                (Format::Json, Ok(record)) => event(&json!({
                    "type": "verify", "file": file, "proved": true,
                    "game": record.header.game, "play_hash": record.play_hash(),
                }))?,
                (Format::Json, Err(error)) => event(&json!({
                    "type": "verify", "file": file, "proved": false, "why": format!("{error:#}"),
                }))?,
            }
        }
        Ok(end)
    }
}
