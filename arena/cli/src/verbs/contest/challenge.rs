//! `arena contest challenge`: a match of the ladder that somebody asks for.

use arena_contest::Viewer;
use arena_terminal::StoreAt;
use clap::Args;
use referee_core::printable;

use super::{Opened, elsewhere::ArenaAt, told};
use crate::{End, report, usage};

#[derive(Args)]
#[command(after_help = "Examples:
  arena contest challenge spring otter --arena https://arena.example/ --token-file token
  arena contest challenge spring otter --contestant 1    # organisers, on the machine with the store

Exit codes: 0 they meet in the next round in which both are free; 1 the arena refuses.")]
pub(crate) struct Challenge {
    /// The contest's name.
    contest: String,
    /// The contestant to meet: the name on the board, or the number.
    opponent: String,
    /// For organisers: the number of the contestant for whom it is asked, in the store of this machine.
    #[arg(long)]
    contestant: Option<u64>,
    #[command(flatten)]
    arena: ArenaAt,
    #[command(flatten)]
    store: StoreAt,
}

impl Challenge {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        match (self.contestant, self.arena.open(&self.contest)?) {
            (Some(contestant), None) => self.ask_of_store(contestant).await,
            (None, Some(elsewhere)) => match elsewhere.challenge(&self.opponent).await? {
                Ok(()) => {
                    report::line(&taken(&self.opponent))?;
                    Ok(End::Done)
                }
                Err(end) => Ok(end),
            },
            (Some(_), Some(_)) => usage(
                "--arena asks for the person whose token it is, and --contestant for one of the store \
                 of this machine: expected one of them",
            ),
            (None, None) => usage(
                "expected --arena URL --token-file FILE, to ask an arena elsewhere, or --contestant \
                 NUMBER, for one of the store of this machine",
            ),
        }
    }

    async fn ask_of_store(&self, contestant: u64) -> anyhow::Result<End> {
        let opened = Opened::new(&self.store, &self.contest).await?;
        let (store, standing) = (&opened.store, &opened.standing);
        let opponent = told(standing.contestant_of(&self.opponent))?;
        let asked = standing.challenge(store, contestant, opponent, opened.now);
        if let Err(refused) = told(asked.await)? {
            return usage(refused.to_string());
        }
        let [one, other] =
            [contestant, opponent].map(|number| standing.name_of(number, Viewer::Organiser));
        opened.close(&format!("{one}: {}", taken(&other))).await
    }
}

fn taken(opponent: &str) -> String {
    let opponent = printable(opponent);
    format!("{opponent} is met in the next round in which both are free")
}
