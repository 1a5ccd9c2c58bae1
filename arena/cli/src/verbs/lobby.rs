//! `arena lobby`: the bots that have dialled in and wait for games, and their tokens.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use arena_lobby::{Attendant, LobbyFolder};
use clap::{Args, Subcommand};
use referee_cli::bots::lobby_folder;
use referee_net::{NamedTokens, Token};

use crate::{End, report, show, usage};

/// The bots that have dialled in.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Lobby {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// List those that attend at the arena of this folder (the same without a verb)
    List,
    /// Let a bot join: makes a token for it, and a file with the token
    Add(Add),
}

#[derive(Args)]
struct Add {
    /// Its name: it plays as lobby:NAME.
    name: String,
    /// The file of `arena serve --lobby`, to which the line NAME TOKEN is added.
    #[arg(long, default_value = "lobby.tokens", value_name = "FILE")]
    lobby: PathBuf,
    /// The new file that the token is written to; bring it to the bot's machine [default:
    /// NAME.token].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl Lobby {
    pub(crate) fn run(self) -> anyhow::Result<End> {
        match self.verb {
            None | Some(Verb::List) => list(),
            Some(Verb::Add(add)) => add.run(),
        }
    }
}

fn list() -> anyhow::Result<End> {
    let bots = LobbyFolder::new(lobby_folder()).attendants();
    if bots.is_empty() {
        report::text(
            "no bot attends; `arena lobby add NAME` makes a token for one, which joins with \
             BOT_JOIN=https://HOST:PORT of `arena serve --lobby FILE` and BOT_TOKEN_FILE=FILE\n",
        )?;
        return Ok(End::Done);
    }
    let header = ["bot", "there and back", "since", "program", "services"];
    report::plain_table(&header, bots.iter().map(row))?;
    report::line("the time there and back to a bot is a part of what its answers take")?;
    Ok(End::Done)
}

fn row(bot: &Attendant) -> [String; 5] {
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    [
        bot.name.clone(),
        bot.round_trip
            .map_or_else(String::new, |time| report::time(micros(time))),
        show::date(i64::try_from(bot.since_unix_ms).unwrap_or(i64::MAX)),
        referee_core::shorten(&bot.program, 24),
        bot.services.join(" "),
    ]
}

impl Add {
    fn run(self) -> anyhow::Result<End> {
        let Self {
            name,
            lobby,
            token_file,
        } = self;
        if !NamedTokens::is_name(&name) {
            return usage(format!(
                "\"{name}\" is no name: expected 1 to {} letters of ASCII, digits, dots, hyphens \
                 and underscores, with one of the first two at the beginning",
                NamedTokens::LONGEST_NAME
            ));
        }
        if lobby.exists() {
            let known = NamedTokens::load(&lobby).or_else(|error| usage(error.to_string()))?;
            if known.names().contains(&name) {
                return usage(format!(
                    "{}: {name} has a token already; take its line out first, and remove the file \
                     with the token",
                    lobby.display()
                ));
            }
        }
        let file = token_file.unwrap_or_else(|| PathBuf::from(format!("{name}.token")));
        let token = Token::generate()?;
        // First the file: a token that nobody has would be of no use.
        if let Err(error) = token.write_new(&file) {
            return usage(error.to_string());
        }
        let written = File::options()
            .append(true)
            .read(true)
            .create(true)
            .mode(0o600)
            .open(&lobby)
            .and_then(|mut lobby| {
                // An editor may have left the last line without an end.
                let mut last = [b'\n'];
                if lobby.seek(SeekFrom::End(-1)).is_ok() {
                    lobby.read_exact(&mut last)?;
                }
                let end = if last == *b"\n" { "" } else { "\n" };
                writeln!(lobby, "{end}{name} {}", token.reveal())
            });
        if let Err(error) = written {
            let _ = std::fs::remove_file(&file);
            return usage(format!("could not write {}: {error}", lobby.display()));
        }
        report::line(&format!(
            "{name} may join `arena serve --lobby {}`; bring {} to its machine and start it there \
             with BOT_JOIN=https://HOST:PORT and BOT_TOKEN_FILE={}",
            lobby.display(),
            file.display(),
            file.display()
        ))?;
        Ok(End::Done)
    }
}
