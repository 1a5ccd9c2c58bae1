//! `arena bots dockerfile`: what an author needs to make an image of a bot.

use std::{io::Read as _, path::PathBuf};

use anyhow::Context as _;
use arena_terminal::OutputFile;
use clap::{Args, ValueEnum};
use referee_bots::open_input;

use crate::{End, report, usage};

#[derive(Args)]
pub(crate) struct Dockerfile {
    /// The folder of the bot, in which Dockerfile and .dockerignore are written.
    folder: PathBuf,
    /// The language of the bot.
    #[arg(long, value_enum)]
    lang: Language,
    /// The file in the folder that is run: a script, or the compiled program [default:
    /// bot.py, bot.js, bot, or strategy.so].
    #[arg(long, value_name = "FILE")]
    main: Option<String>,
    /// Replace files that are there.
    #[arg(long)]
    force: bool,
}

/// The languages that there is a Dockerfile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    Python,
    Cpp,
    Rust,
    Node,
    /// A compiled strategy for Connect Four.
    Strategy,
}

/// The files that are written for a language.
pub(super) struct Template {
    main: &'static str,
    /// True if that is a program for Linux, and nothing else goes into the image.
    is_compiled: bool,
    dockerfile: &'static str,
    /// A file of the author's, and what is done where it is there.
    install: Option<(&'static str, &'static str)>,
}

/// Files that bots in scripts have in their folders and no image needs.
pub(super) const IGNORED: &str = "\
.*
Dockerfile
__pycache__
*.pyc
venv
arena-runs
*.log
";
/// First bytes of a program for Linux.
const ELF: &[u8] = b"\x7fELF";

impl Language {
    pub(super) const fn template(self) -> Template {
        match self {
            Self::Python => Template {
                main: "bot.py",
                is_compiled: false,
                dockerfile: include_str!("dockerfile/python.Dockerfile"),
                install: Some((
                    "requirements.txt",
                    include_str!("dockerfile/python.install"),
                )),
            },
            Self::Node => Template {
                main: "bot.js",
                is_compiled: false,
                dockerfile: include_str!("dockerfile/node.Dockerfile"),
                install: Some(("package-lock.json", include_str!("dockerfile/node.install"))),
            },
            Self::Rust => Template {
                main: "bot",
                is_compiled: true,
                dockerfile: include_str!("dockerfile/rust.Dockerfile"),
                install: None,
            },
            Self::Cpp => Template {
                main: "bot",
                is_compiled: true,
                dockerfile: include_str!("dockerfile/cpp.Dockerfile"),
                install: None,
            },
            Self::Strategy => Template {
                main: "strategy.so",
                is_compiled: true,
                dockerfile: include_str!("dockerfile/strategy.Dockerfile"),
                install: None,
            },
        }
    }
}

impl Template {
    /// The files, by name, for this program; `installed` as [`Template::install`].
    pub(super) fn texts(
        &self,
        main: &str,
        installed: Option<(&str, &str)>,
    ) -> [(&'static str, String); 2] {
        let install = installed.map_or("", |(_, install)| install);
        let dockerfile = self
            .dockerfile
            .replace("{install}", install)
            .replace("{main}", main);
        let ignored = match (self.is_compiled, installed) {
            (true, _) => format!("*\n!{main}\n"),
            (false, Some(("package-lock.json", _))) => format!("{IGNORED}node_modules\n"),
            (false, _) => IGNORED.to_owned(),
        };
        [("Dockerfile", dockerfile), (".dockerignore", ignored)]
    }
}

impl Dockerfile {
    pub(crate) fn run(&self) -> anyhow::Result<End> {
        let template = self.lang.template();
        let main = self.main.as_deref().unwrap_or(template.main);
        self.check(main, &template)?;
        let installed = template
            .install
            .filter(|(file, _)| self.folder.join(file).is_file());
        let files = template.texts(main, installed);
        let files = files.map(|(name, text)| {
            OutputFile::open(&self.folder.join(name), self.force).map(|file| (file, text))
        });
        let files = files.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (file, text) in files {
            file.write_whole(text.as_bytes())?;
        }
        let folder = self.folder.display().to_string();
        let quoted = shlex::try_quote(&folder).map_or(folder.clone(), Into::into);
        report::text(&format!(
            "wrote Dockerfile and .dockerignore in {folder}; now\n\n  \
             docker build -t my-bot {quoted}\n  \
             arena match connect-four --bot me=image:my-bot --bot house:random\n"
        ))?;
        Ok(End::Done)
    }

    /// Checks that the folder has this program.
    fn check(&self, main: &str, template: &Template) -> anyhow::Result<()> {
        let folder = self.folder.display();
        if !self.folder.is_dir() {
            return usage(format!(
                "{folder} is not a folder; expected the folder of a bot"
            ));
        }
        // It stands in two files that have patterns and quotes of their own.
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+/".contains(c);
        let inside = main.split('/').all(|part| !["", ".", ".."].contains(&part));
        if !main.chars().all(plain) || !inside {
            return usage(format!(
                "--main {main:?}: expected a file below {folder}, as in --main src/bot.py, with \
                 no other characters in its name than letters, digits and . _ - +"
            ));
        }
        let path = self.folder.join(main);
        if !path.is_file() {
            return usage(format!(
                "{folder} has no file {main}; expected --main FILE, the file in it that is run"
            ));
        }
        if template.is_compiled {
            let mut begin = Vec::new();
            let file =
                open_input(&path).with_context(|| format!("could not open {}", path.display()))?;
            file.take(ELF.len() as u64).read_to_end(&mut begin)?;
            if begin != ELF {
                return usage(format!(
                    "{} is not a program for Linux; compile the bot first, and give its program \
                     with --main FILE",
                    path.display()
                ));
            }
        }
        Ok(())
    }
}
