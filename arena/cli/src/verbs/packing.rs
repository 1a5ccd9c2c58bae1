//! `arena bots add --dir` and `--pack`: a bot's files become an archive, and its SPEC one that
//! names it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use referee_bots::{
    Entry, Launcher, PackedSpec, Schemes,
    archive::{LEFT_OUT, Packed, pack_file, pack_folder},
    is_label,
};

use super::archives::bytes;
use crate::{report::plural, usage};

/// What is packed.
#[derive(Args)]
pub(crate) struct PackArgs {
    /// Pack this folder: the bot's files are kept in the store, and are read-only where it
    /// plays. Paths in its command begin there.
    #[arg(long, value_name = "FOLDER", conflicts_with = "pack")]
    dir: Option<PathBuf>,
    /// Pack the single file that --bot names, as in --bot strategy:./my.so.
    #[arg(long)]
    pack: bool,
    /// What a machine must have to play with the bot, beside what is found out; once for each,
    /// as in --needs gpu.
    #[arg(long = "needs", value_name = "LABEL")]
    needs: Vec<String>,
}

/// A bot that has been packed.
pub(crate) struct PackedBot {
    /// Its SPEC, which names the archive.
    pub(crate) spec: PackedSpec,
    pub(crate) packed: Packed,
}

impl PackArgs {
    /// Packs a bot where that was asked for.
    pub(crate) fn packed(
        &self,
        name: &str,
        spec: &str,
        schemes: &Schemes,
    ) -> anyhow::Result<Option<PackedBot>> {
        if let Some(label) = self.needs.iter().find(|label| !is_label(label)) {
            return usage(format!(
                "--needs {label}: expected 1 to 64 ASCII letters, digits, dots, hyphens, \
                 underscores and plus signs"
            ));
        }
        if self.dir.is_none() && !self.pack {
            return match self.needs.first() {
                Some(_) => usage("--needs is for bots that are packed, with --dir or --pack"),
                None => Ok(None),
            };
        }
        let here = std::env::current_dir()?;
        let read = |spec: &str| Entry::read(&format!("{name}={spec}"), schemes);
        let (inner, folder, packed) = match &self.dir {
            Some(folder) => {
                let entry = read(spec)?;
                let packable = entry.launcher().check_packed();
                packable.or_else(|why| usage(format!("{spec}: {why}")))?;
                entry.check_files(folder)?;
                let packed = pack_folder(folder).or_else(|error| usage(error.to_string()))?;
                (entry, folder.clone(), packed)
            }
            None => {
                let entry = read(spec)?;
                let Some(file) = entry.launcher().program_file(&here) else {
                    return usage(format!(
                        "--pack: {spec} names no file that could be packed; --dir FOLDER packs a \
                         folder"
                    ));
                };
                entry.check_files(&here)?;
                let inner = read(&of_file(spec, entry.launcher(), &here, &file)?)?;
                let packable = inner.launcher().check_packed();
                packable.or_else(|why| usage(format!("{spec}: {why}")))?;
                let packed = pack_file(&file).or_else(|error| usage(error.to_string()))?;
                let folder = file.parent().unwrap_or(&here).to_owned();
                (inner, folder, packed)
            }
        };
        let mut needs = inner.launcher().needs(&folder);
        needs.extend(self.needs.iter().cloned());
        Ok(Some(PackedBot {
            spec: PackedSpec::new(packed.hash, needs, inner.spec),
            packed,
        }))
    }
}

impl PackedBot {
    /// Description of the packed bot, in words.
    pub(crate) fn described(&self) -> String {
        let Packed {
            size,
            entries,
            left_out,
            hash,
            bytes: packed,
        } = &self.packed;
        let needs = match &self.spec.needs[..] {
            [] => String::new(),
            needs => format!("; it needs {}", needs.join(", ")),
        };
        let without = match left_out.len() {
            0 => String::new(),
            1..=5 => format!("; left out: {}", left_out.join(", ")),
            more => format!("; {more} left out that are called {}", LEFT_OUT.join(", ")),
        };
        format!(
            "packed {}, {} ({} packed), as archive {}{needs}{without}",
            plural(*entries as u64, "file or folder")
                .replace("file or folders", "files and folders"),
            bytes(*size),
            bytes(packed.len() as u64),
            hash.short(),
        )
    }
}

/// The SPEC of a bot of one file, in the folder in which this is alone.
fn of_file(
    spec: &str,
    launcher: &dyn Launcher,
    here: &Path,
    file: &Path,
) -> anyhow::Result<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if let Some(strategy) = spec.strip_prefix("strategy:") {
        // A path may contain a question mark, a value can't.
        let parameters = strategy.rsplit_once('?').map(|(_, parameters)| parameters);
        let parameters = parameters.map_or_else(String::new, |all| format!("?{all}"));
        return Ok(format!("strategy:{name}{parameters}"));
    }
    let command = launcher
        .command()
        .into_iter()
        .flat_map(|(program, arguments)| {
            let words = [program.into_os_string()].into_iter().chain(arguments);
            words.map(|word| word.to_string_lossy().into_owned())
        });
    let words = command
        .enumerate()
        .map(|(at, word)| match here.join(&word) == file {
            // Without a slash it would be looked for where programs are.
            true if at == 0 => format!("./{name}"),
            true => name.clone().into_owned(),
            false => word,
        });
    let words: Vec<String> = words.collect();
    launcher
        .with_command(&words)
        .with_context(|| format!("{spec} has no command"))
}
