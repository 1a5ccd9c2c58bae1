//! `arena bots new`: a folder with a bot that plays, for its author to go on from.

mod templates;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use arena_terminal::OutputFile;
use arena_tournament::find_game;
use clap::Args;
use referee_bots::Entry;
use tempfile::TempDir;

use self::templates::{BotLanguage, BotTemplate, Values};
use crate::{End, report, usage};

#[derive(Args)]
pub(crate) struct New {
    /// The name of the bot, and of the folder that is made.
    name: String,
    /// The game that it plays.
    game: String,
    /// The language that it is written in; stdio is Python without a kit, by lines of JSON.
    #[arg(long, value_enum)]
    lang: BotLanguage,
    /// The kit of that language: its folder in a clone of the arena's repository, or for Python a
    /// wheel [default: that of the repository in which this program lies].
    #[arg(long, value_name = "PATH")]
    kit: Option<PathBuf>,
}

impl New {
    pub(crate) fn run(&self) -> anyhow::Result<End> {
        if let Err(error) = Entry::check_name(&self.name) {
            return usage(error.to_string());
        }
        let info = find_game(&self.game)?.info();
        let template = self.lang.template();
        let kit = self.kit(&template)?;
        let files = template.texts(&Values {
            name: &self.name,
            game: info.name,
            seats: info.seats,
            kit: &kit,
        });
        let Some(files) = files else {
            return usage(format!("there is no template of a bot for {}", self.game));
        };
        let folder = Path::new(&self.name);
        if !is_free(folder) {
            return usage(format!(
                "{} is there already; expected the name of a new or an empty folder",
                self.name
            ));
        }
        let made = tempfile::Builder::new()
            .prefix(".arena-bots-new-")
            .permissions(Permissions::from_mode(0o777))
            .tempdir_in(".")
            .context("could not make a folder here")?;
        for (path, text) in &files {
            let path = made.path().join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            OutputFile::open(&path, false)?.write_whole(text.as_bytes())?;
        }
        rename(made, folder)?;
        report::text(&format!(
            "wrote {0}, a bot for {1}; now\n\n  cd {0}\n  make check\n  make play\n",
            self.name, self.game
        ))?;
        Ok(End::Done)
    }

    /// The path of the kit, as it is written into files; empty where there is none.
    fn kit(&self, template: &BotTemplate) -> anyhow::Result<String> {
        let Some((place, file)) = template.kit else {
            return match self.kit {
                None => Ok(String::new()),
                Some(_) => usage("--kit: a program that reads and writes lines has no kit"),
            };
        };
        let is_python = self.lang == BotLanguage::Python;
        let or_wheel = if is_python { ", or its wheel" } else { "" };
        let expected = format!(
            "expected --kit PATH, the folder {place} of a clone of the arena's repository{or_wheel}"
        );
        let path = match &self.kit {
            Some(path) => path.clone(),
            None => match repository(&std::env::current_exe()?, place) {
                Some(repository) => repository.join(place),
                None => return usage(format!("this program lies in no repository; {expected}")),
            },
        };
        let is_wheel = is_python && path.extension().is_some_and(|ending| ending == "whl");
        let sought = if is_wheel {
            path.clone()
        } else {
            path.join(file)
        };
        if !sought.is_file() {
            return usage(format!("there is no file {}; {expected}", sought.display()));
        }
        let path = path.canonicalize()?;
        // It stands in files that have quotes and variables of their own.
        let is_plain = |c: char| c.is_alphanumeric() || " /._-+@,~".contains(c);
        match path.to_str().filter(|path| path.chars().all(is_plain)) {
            Some(path) => Ok(path.to_owned()),
            None => usage(format!(
                "{}: expected a path with no other characters than letters, digits, blanks and \
                 / . _ - + @ , ~",
                path.display()
            )),
        }
    }
}

/// The repository that a program was built in, if it has this kit.
fn repository<'a>(program: &'a Path, kit: &str) -> Option<&'a Path> {
    program.ancestors().find(|folder| folder.join(kit).is_dir())
}

/// True if a folder can be made there without a loss.
fn is_free(folder: &Path) -> bool {
    match folder.symlink_metadata() {
        Ok(there) => {
            there.is_dir() && fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none())
        }
        Err(_) => true,
    }
}

/// Gives the folder its name. An empty folder may have it.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder replaces nothing but an empty folder"
)]
fn rename(made: TempDir, folder: &Path) -> anyhow::Result<()> {
    fs::rename(made.path(), folder)
        .with_context(|| format!("could not make the folder {}", folder.display()))?;
    let _ = made.keep();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kit_is_found_in_the_repository_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("target/debug/arena");
        assert_eq!(repository(&program, "bots/go"), None);
        fs::create_dir_all(folder.path().join("bots/go")).unwrap();
        assert_eq!(repository(&program, "bots/go"), Some(folder.path()));
    }

    #[test]
    fn only_a_new_or_an_empty_folder_is_free() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_free(&folder.path().join("absent")));
        assert!(is_free(folder.path()));
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(!is_free(folder.path()));
        assert!(!is_free(&folder.path().join("file")));
    }

    #[test]
    fn what_came_there_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let made = tempfile::tempdir().unwrap();
        let path = made.path().to_owned();
        rename(made, folder.path()).unwrap_err();
        assert!(folder.path().join("file").is_file());
        assert!(!path.exists());
    }
}
