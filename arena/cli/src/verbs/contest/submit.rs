//! `arena contest submit`: hands in to the store of this machine for a person, or to an arena
//! elsewhere as the person of a token, and follows what comes of the entry there.

use std::{path::PathBuf, time::Duration};

use arena_contest::{ContestEntry, EntryDetails, Refusal, Viewer};
use arena_store::EntryState;
use arena_terminal::{Format, StoreAt};
use clap::Args;
use referee_cli::stop::EndSignals;
use tokio::time::sleep;

use super::{
    Opened,
    elsewhere::{Answer, ArenaAt, ContestElsewhere},
    entry::{headline, json, show_details},
    told,
    upload::Upload,
};
use crate::{End, report, usage};

/// The time between two questions for an entry.
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Args)]
#[command(after_help = "Examples:
  arena contest submit spring bot.py --arena https://arena.example/ --token-file token --group 1
  arena contest submit spring my_bot/ --arena https://arena.example/ --token-file token
  arena contest submit spring bot.py --person 1 --group 1    # organisers, on the machine with the store

With --arena it follows the entry until it is judged. Exit codes: 0 it is judged;
1 it is refused, or could not be built or started; 130 Ctrl-C ended following,
and the entry stays.")]
pub(crate) struct Submit {
    /// The contest's name.
    contest: String,
    /// What is handed in: a zip or tar of sources, a single source file, or a folder, which is packed
    /// without what version control and builds leave in it.
    file: PathBuf,
    /// For organisers: the number of the person for whom it is handed in, to the store of this machine.
    #[arg(long)]
    person: Option<u64>,
    /// The group that it is for, in an exam of groups.
    #[arg(long)]
    group: Option<u32>,
    #[command(flatten)]
    arena: ArenaAt,
    /// With --arena: end when it is taken, and don't follow it.
    #[arg(long, requires = "arena")]
    no_wait: bool,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output: text, or at the end the entry as the API has it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Submit {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        match (self.person, self.arena.is_given()) {
            (Some(person), false) => self.to_store(person).await,
            (None, true) => self.to_arena().await,
            (Some(_), true) => usage(
                "--arena hands in for the person whose token it is, and --person for one of the store \
                 of this machine: expected one of them",
            ),
            (None, false) => usage(
                "expected --arena URL --token-file FILE, to hand in to an arena elsewhere, or --person \
                 NUMBER, to the store of this machine",
            ),
        }
    }

    async fn to_store(self, person: u64) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let standing = &opened.standing;
        let person = told(standing.person(person))?;
        let Upload { file, bytes } = Upload::read(&self.file, None)?;
        let part = self.group.unwrap_or(0);
        let (store, contest) = (&opened.store, &standing.contest);
        let taken = arena_contest::hand_in(store, contest, person, part, &file, &bytes, opened.now);
        let entry = match told(taken.await)? {
            Err(refused @ Refusal::NoGroup(_)) => {
                return usage(format!("{refused}; --group says it"));
            }
            Err(refused) => return usage(refused.to_string()),
            Ok(entry) => entry,
        };
        let is_taken = standing.told(&entry, EntryDetails::default(), Viewer::Organiser);
        match self.format {
            Format::Json => json(&serde_json::to_string(&is_taken)?)?,
            Format::Text => report::line(&format!(
                "{}; `arena contest entry {} {}` says what comes of it",
                taken_line(&is_taken),
                self.contest,
                entry.number
            ))?,
        }
        opened.store.close().await;
        Ok(End::Done)
    }

    async fn to_arena(self) -> anyhow::Result<End> {
        let Some(elsewhere) = self.arena.open(&self.contest)? else {
            return usage("expected --arena URL");
        };
        let token = self.arena.token_file().map(PathBuf::as_path);
        let upload = Upload::read(&self.file, token)?;
        let mut signals = EndSignals::listen()?;
        let taken = tokio::select! {
            taken = self.hand_in(&elsewhere, &upload) => taken?,
            _ = signals.next() => {
                report::note(&elsewhere.not_known());
                return Ok(End::Interrupted);
            }
        };
        let (entry, text) = match taken {
            Ok(taken) => taken,
            Err(end) => return Ok(end),
        };
        self.tell(&taken_line(&entry))?;
        if self.no_wait {
            self.tell(&headline(&entry))?;
            self.tell(&elsewhere.later(entry.entry))?;
            if self.format == Format::Json {
                json(&text)?;
            }
            return Ok(End::Done);
        }
        let number = entry.entry;
        tokio::select! {
            end = self.follow(&elsewhere, entry, text) => end,
            _ = signals.next() => {
                report::note(&format!("entry {number} stays; {}", elsewhere.later(number)));
                Ok(End::Interrupted)
            }
        }
    }

    /// Hands in, and again as long as the arena asks for it. What it refuses is printed, and how that
    /// ends is the inner error.
    async fn hand_in(
        &self,
        elsewhere: &ContestElsewhere,
        upload: &Upload,
    ) -> anyhow::Result<Result<(ContestEntry, String), End>> {
        loop {
            match elsewhere.hand_in(upload, self.group).await? {
                Answer::Entry(entry, text) => return Ok(Ok((*entry, text))),
                Answer::Refused(refused) => return refused.show(self.format).map(Err),
                Answer::Away(words) => {
                    return Err(anyhow::anyhow!(words).context(elsewhere.not_known()));
                }
                Answer::Later(wait, words) => {
                    report::note(&format!("{words}; it is handed in again in {wait:?}"));
                    sleep(wait.max(PAUSE)).await;
                }
            }
        }
    }

    /// Tells each change of an entry until it is judged, and then all that is known of it.
    async fn follow(
        &self,
        elsewhere: &ContestElsewhere,
        mut entry: ContestEntry,
        mut text: String,
    ) -> anyhow::Result<End> {
        let mut said = String::new();
        let mut wait = PAUSE;
        let mut is_away = false;
        loop {
            let line = headline(&entry);
            if line != said {
                self.tell(&line)?;
                said = line;
            }
            if entry.state.is_final() {
                break;
            }
            sleep(wait).await;
            let (after, why) = match elsewhere.entry(entry.entry).await {
                Ok(Answer::Entry(newer, newer_text)) => {
                    (entry, text) = (*newer, newer_text);
                    (wait, is_away) = (PAUSE, false);
                    continue;
                }
                Ok(Answer::Refused(refused)) => return refused.show(self.format),
                Ok(Answer::Later(after, words)) => (after, words),
                Ok(Answer::Away(words)) => (PAUSE, words),
                Err(error) => (PAUSE, error.to_string()),
            };
            wait = after.max(PAUSE);
            if !is_away {
                report::note(&format!("{why}; the entry stays, and is asked for again"));
            }
            is_away = true;
        }
        match self.format {
            Format::Json => json(&text)?,
            Format::Text => show_details(&entry)?,
        }
        Ok(match entry.state {
            EntryState::Failed => End::No,
            _ => End::Done,
        })
    }

    /// A line for people.
    fn tell(&self, line: &str) -> anyhow::Result<()> {
        match self.format {
            Format::Text => report::line(line),
            Format::Json => Ok(()),
        }
    }
}

fn taken_line(entry: &ContestEntry) -> String {
    let late = match entry.official {
        true => "",
        false => ", late: it does not count",
    };
    format!("entry {} is taken{late}", entry.entry)
}
